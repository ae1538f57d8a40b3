// What ranks tell each other of their layouts before a plan exists: digests are compared in the handshake, and gathered
// is only what follows from no rule.
#include <gtest/gtest.h>

#include "group/group.hpp"
#include "support/deals.hpp"
#include "support/inputs.hpp"
#include "support/threads.hpp"

namespace steadfold::test::told_test {
namespace {

using group::Group;

/// Counts what this rank brings to gathers.
class Counting final : public transport::ForwardingTransport {
 public:
  using ForwardingTransport::ForwardingTransport;
  void gather(std::span<const std::byte> bytes) override {
    told += bytes.size();
    ForwardingTransport::gather(bytes);
  }
  Bytes told = 0;
};

struct Told {
  Bytes in_bind = 0;
  Bytes in_one_shot = 0;
  Bytes in_the_next = 0;  // by the cached plan
};

/// What rank 0 tells when all ranks bind the call, and make it twice. All results are right.
Told told_by(const Call& common, const Deal& deal) {
  std::mt19937_64 random(1);
  Count rows = 0;
  for (const auto& mine : deal) rows += rows_of(mine);
  const std::vector<double> elements = summands(random, rows * common.columns);
  const std::vector<Call> calls = calls_for(common, deal);
  std::vector<double> sums;
  const bool by_tree = call::describe(common).method == Method::tree;
  for (Count column = 0; column < common.columns; ++column) {
    const auto values = column_of(elements, common.columns, column);
    sums.push_back(by_tree ? tree_sum(values) : exact_sum(values));
  }
  Told told;
  on_threads(static_cast<Rank>(deal.size()), 1, [&](std::shared_ptr<transport::Transport> transport) {
    const auto counting = std::make_shared<Counting>(transport);
    Group group(counting);
    group.set_up();  // where ranks tell each other where they are
    const auto rank = static_cast<std::size_t>(group.rank());
    const Memory mine = memory_of(elements, common.columns, deal[rank]);
    std::vector<double> result(common.columns);
    const call::Data data{.first = mine.data(), .result = reinterpret_cast<std::byte*>(result.data())};
    const auto telling = [&](const auto& call) {
      const Bytes before = counting->told;
      std::ranges::fill(result, 0.0);
      call();
      EXPECT_EQ(hex(bytes_of(result)), hex(bytes_of(sums))) << "rank " << rank;
      return counting->told - before;
    };
    Told found;
    found.in_bind = telling([&] { group.bind(std::span(&calls[rank], 1))->run(data); });
    found.in_one_shot = telling([&] { group.reduce(calls[rank], data); });
    found.in_the_next = telling([&] { group.reduce(calls[rank], data); });
    if (rank == 0) told = found;
  });
  return told;
}

void expect_told(const Call& common, const Deal& deal, Bytes bytes) {
  const Told told = told_by(common, deal);
  const Bytes sent = bytes == 0 ? 0 : bytes + 1;  // a byte says that there was memory for the others
  EXPECT_EQ(told.in_bind, sent);
  EXPECT_EQ(told.in_one_shot, sent);
  EXPECT_EQ(told.in_the_next, 0u);
}

TEST(Told, IsWhatFollowsFromNoRule) {
  constexpr Count columns = 400;  // too many for the handshake
  const Dealt rule{{{.extent = 6, .ranks = 1}, {.extent = 40, .ranks = 3, .block = 2}}};
  const order::Grid grid = grid_of(rule);
  const Deal deal = rule.lists<Interval>();
  const Deal in_order = contiguous_deal({5, 0, 7});
  for (const Method method : {Method::tree, Method::exact}) {
    SCOPED_TRACE(call::name_of(method));
    Call call{.method = method, .columns = columns, .layout = LayoutKind::grid, .grid = &grid};
    expect_told(call, deal, 0);
    call.layout = LayoutKind::row_per_rank;
    expect_told(call, contiguous_deal({1, 1, 1}), 0);
    call.layout = LayoutKind::rank_order;
    expect_told(call, in_order, 8);
    call.layout = LayoutKind::intervals;
    expect_told(call, deal, method == Method::exact ? 16 : 8 + 16 * deal[0].size());
  }
}

/// What rank 0 tells in calls of `first` to `last` columns, and in the same calls again.
std::array<Bytes, 2> told_by_widths(Count first, Count last) {
  std::array<Bytes, 2> told{};
  on_threads(3, 1, [&](std::shared_ptr<transport::Transport> transport) {
    const auto counting = std::make_shared<Counting>(transport);
    Group group(counting);
    group.set_up();
    const std::vector<double> row(last, 1.5);
    std::vector<double> result(last);
    const call::Data data{.first = reinterpret_cast<const std::byte*>(row.data()),
                          .result = reinterpret_cast<std::byte*>(result.data())};
    for (Bytes& each : told) {
      const Bytes before = counting->told;
      for (Count columns = first; columns <= last; ++columns) {
        group.reduce({.method = Method::exact, .columns = columns, .rows = 1}, data);
        EXPECT_EQ(std::vector(result.begin(), result.begin() + static_cast<std::ptrdiff_t>(columns)),
                  std::vector(columns, 4.5));
      }
      if (group.rank() == 0) each = counting->told - before;
    }
  });
  return told;
}

/// As in a solver with a Krylov space; of wide rows few plans are kept, since they take memory.
TEST(Told, OnceForFortyWidthsThatComeAgain) {
  const auto narrow = told_by_widths(8, 48);
  EXPECT_GT(narrow[0], 0u);
  EXPECT_EQ(narrow[1], 0u);
  const auto wide = told_by_widths(200, 216);
  EXPECT_GT(wide[0], 0u);
  EXPECT_EQ(wide[1], wide[0]);
}

}  // namespace
}  // namespace steadfold::test::told_test
