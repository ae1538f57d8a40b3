// What one-shot calls tell apart: every word of a call, shares and blocks among them, and every layout, however much
// it looks like one that a plan was made for before.
#include <gtest/gtest.h>

#include <functional>
#include <set>

#include "group/group.hpp"
#include "support/inputs.hpp"
#include "support/simulated_job.hpp"
#include "support/threads.hpp"

namespace steadfold::test::one_shot_test {
namespace {

using call::Collective;
using call::Description;
using group::Group;

/// One bit in any of its words makes another digest, and no two of these are the same.
TEST(Digests, TakeInEveryWordOfACall) {
  constexpr std::size_t words = sizeof(Description) / sizeof(std::uint64_t);
  const Description base = call::describe({.method = Method::tree, .columns = 3});
  std::set<std::uint64_t> found = {call::digest_of(base)};
  for (std::size_t word = 0; word < words; ++word) {
    for (const unsigned bit : {0u, 1u, 31u, 32u, 63u}) {
      std::uint64_t changed[words];
      std::memcpy(changed, &base, sizeof changed);
      changed[word] ^= std::uint64_t{1} << bit;
      Description other;
      std::memcpy(&other, changed, sizeof other);
      found.insert(call::digest_of(other));
      const Description both[] = {base, other};
      const Description turned[] = {other, base};
      found.insert(call::digest_of(both));
      found.insert(call::digest_of(turned));
    }
  }
  EXPECT_EQ(found.size(), 1 + words * 5 * 3);
}

/// What a call came to on one rank.
struct Came {
  Status status = Status::ok;
  std::string text = {};
  std::vector<double> result = {};
};

/// `calls[rank]` made by every rank at once, between two that are good.
std::vector<Came> made_at_once(const std::vector<Call>& calls, std::uint64_t seed) {
  std::vector<Came> came(calls.size());
  const auto p = static_cast<Rank>(calls.size());
  on_threads(p, seed, [&](std::shared_ptr<transport::Transport> transport) {
    Group group(transport);
    const auto rank = static_cast<std::size_t>(group.rank());
    const std::vector<double> x(64, static_cast<double>(rank + 1));
    const auto* const first = reinterpret_cast<const std::byte*>(x.data());
    for (int again = 0; again < 2; ++again) {
      double sum = 0;
      group.reduce({.layout = LayoutKind::row_per_rank, .rows = 1},
                   {.first = first, .result = reinterpret_cast<std::byte*>(&sum)});
      EXPECT_EQ(sum, p * (p + 1) / 2);
      came[rank] = {.result = std::vector<double>(64)};
      try {
        group.reduce(calls[rank], {.first = first, .result = reinterpret_cast<std::byte*>(came[rank].result.data())});
      } catch (const Failure& failure) {
        came[rank].status = failure.status();
        came[rank].text = failure.what();
      }
    }
  });
  return came;
}

void expect_told_apart(const Call& common, const std::function<void(Call&)>& change, const std::string& difference) {
  constexpr std::size_t p = 4;
  for (std::size_t culprit = 0; culprit < p; ++culprit) {
    std::vector<Call> calls(p, common);
    change(calls[culprit]);
    for (const Came& came : made_at_once(calls, culprit + 1)) {
      EXPECT_EQ(came.status, Status::mismatch) << "culprit " << culprit << ": " << came.text;
      EXPECT_NE(came.text.find(difference), std::string::npos) << "culprit " << culprit << ": " << came.text;
    }
  }
}

/// By the handshake and, from 300 columns per rank on, by plans.
TEST(OneShot, TellsSharesAndBlocksApart) {
  static const std::vector<Count> even = {4, 4, 4, 4}, uneven = {4, 3, 5, 4}, turned = {4, 5, 3, 4};
  Call call{.method = Method::tree, .columns = 16, .layout = LayoutKind::row_per_rank, .rows = 1};
  expect_told_apart(
      call,
      [](Call& c) {
        c.collective = Collective::reduce_scatter;
        c.blocks = even;
      },
      "collective ");
  expect_told_apart(
      call, [](Call& c) { c.collective = Collective::scan; }, "collective ");
  Call blocks = call;
  blocks.collective = Collective::reduce_scatter;
  blocks.blocks = even;
  expect_told_apart(
      blocks, [](Call& c) { c.blocks = uneven; }, "different blocks of columns");
  blocks.blocks = uneven;
  expect_told_apart(
      blocks, [](Call& c) { c.blocks = turned; }, "different blocks of columns");
  Call scan = call;
  scan.collective = Collective::scan;
  expect_told_apart(
      scan, [](Call& c) { c.collective = Collective::exscan; }, "collective ");
}

/// Pairs of rows are dealt to ranks. From one deal to the next a rank has as many rows in as many intervals, and the
/// first interval, or the last one, is the same: only the others tell the layouts apart. Too much for a handshake.
TEST(OneShot, TakesNoPlanOfAnotherLayout) {
  constexpr Rank p = 4;
  constexpr Count columns = 40;
  constexpr Count intervals = 4;
  constexpr Count rows = p * intervals * 2;
  std::mt19937_64 random(8);
  const std::vector<double> elements = summands(random, rows * columns);
  std::vector<double> sums;
  for (Count column = 0; column < columns; ++column) sums.push_back(tree_sum(column_of(elements, columns, column)));

  // Deals of pairs of rows: the first of every rank stays, the others change places, in the end two of them only.
  std::vector<Index> pairs(p * intervals);
  for (Index i = 0; i < pairs.size(); ++i) pairs[i] = i;
  std::vector<Deal> deals;
  const auto deal_out = [&] {
    Deal deal(p);
    for (Index i = 0; i < pairs.size(); ++i) deal[i % p].push_back({2 * pairs[i], 2 * pairs[i] + 2});
    deals.push_back(deal);
  };
  deal_out();
  for (int round = 0; round < 5; ++round) {
    std::shuffle(pairs.begin() + p, pairs.end(), random);
    deal_out();
  }
  std::swap(pairs[pairs.size() - 1], pairs[pairs.size() - 2]);  // the last of two ranks
  deal_out();
  std::swap(pairs[p], pairs[p + p]);  // two of one rank: the same rows, in another order of memory
  deal_out();
  for (auto& mine : deals.front()) ASSERT_EQ(mine.size(), intervals);
  for (std::size_t i = 0, count = deals.size(); i < count; ++i) {  // and all again with the last ones that stay
    deals.push_back(deals[i]);
    for (auto& mine : deals.back()) std::ranges::reverse(mine);
  }

  on_threads(p, 8, [&](std::shared_ptr<transport::Transport> transport) {
    Group group(transport);
    const auto rank = static_cast<std::size_t>(group.rank());
    for (int round = 0; round < 3; ++round) {
      for (std::size_t i = 0; i < deals.size(); ++i) {
        const auto& mine = deals[i][rank];
        const Memory memory = memory_of(elements, columns, mine);
        std::vector<double> result(columns);
        const Call call{.method = Method::tree,
                        .columns = columns,
                        .layout = LayoutKind::intervals,
                        .rows = rows_of(mine),
                        .intervals = mine};
        group.reduce(call, {.first = memory.data(), .result = reinterpret_cast<std::byte*>(result.data())});
        EXPECT_EQ(hex(std::as_bytes(std::span(result))), hex(bytes_of(sums))) << "deal " << i << ", round " << round;
      }
    }
  });
}

/// Ranks that are due nothing may have nowhere to put it: all but the root, rank 0 of an exscan, who has no block.
TEST(OneShot, NeedsNoPlaceForAResultThatIsNotDue) {
  constexpr Rank p = 3;
  static const std::vector<Count> blocks = {2, 0, 1};
  const Call call{.method = Method::tree, .columns = 3, .layout = LayoutKind::row_per_rank, .rows = 1};
  std::vector<Call> calls(4, call);
  calls[0].root = 1;
  calls[0].collective = schedule::Collective::reduce;
  calls[1].collective = Collective::exscan;
  calls[2].collective = Collective::reduce_scatter;
  calls[2].blocks = blocks;
  calls[3].root = 2;
  calls[3].collective = schedule::Collective::reduce;
  calls[3].columns = 1;
  const std::vector<std::vector<Rank>> due = {{1}, {1, 2}, {0, 2}, {2}};
  on_threads(p, 10, [&](std::shared_ptr<transport::Transport> transport) {
    Group group(transport);
    const Rank rank = group.rank();
    const std::vector<double> x(3, static_cast<double>(rank + 1));
    for (std::size_t i = 0; i < calls.size(); ++i) {
      const bool is_due = std::ranges::count(due[i], rank) > 0;
      for (const bool bound : {false, true}) {
        std::vector<double> result(3);
        const call::Data data{.first = reinterpret_cast<const std::byte*>(x.data()),
                              .result = is_due ? reinterpret_cast<std::byte*>(result.data()) : nullptr};
        if (bound) {
          const auto plan = group.bind(std::span(&calls[i], 1));
          plan->run(data);
          EXPECT_EQ(plan->status(), Status::ok) << "call " << i << ", rank " << rank;
        } else {
          EXPECT_NO_THROW(group.reduce(calls[i], data)) << "call " << i << ", rank " << rank;
        }
        const double expected = i == 1 ? rank * (rank + 1) / 2.0 : 6.0;
        if (is_due) {
          EXPECT_EQ(result[0], expected) << "call " << i << ", rank " << rank;
        }
      }
    }
  });
}

/// left + right + what the context points to.
int add_all(const void* left, const void* right, void* result, std::size_t count, void* context) {
  for (std::size_t i = 0; i < count; ++i)
    static_cast<double*>(result)[i] =
        static_cast<const double*>(left)[i] + static_cast<const double*>(right)[i] + *static_cast<double*>(context);
  return 0;
}

/// An operator's context may be another one in every call: by the handshake, and by cached plans.
TEST(OneShot, CallsOperatorsWithTheContextOfTheCall) {
  constexpr Rank p = 3;
  on_threads(p, 11, [&](std::shared_ptr<transport::Transport> transport) {
    Group group(transport);
    std::vector<std::unique_ptr<double>> contexts;  // that stay, so that a stale pointer is no crash
    for (const Count columns : {Count{1}, Count{600}}) {
      const std::vector<double> x(columns, static_cast<double>(group.rank() + 1));
      for (const double more : {1.0, 100.0, 10000.0}) {
        auto context = std::make_unique<double>(more);
        std::vector<double> result(columns);
        const Call call{.operation = arithmetic::Operation::user,
                        .method = Method::tree,
                        .type = arithmetic::Type::bytes,
                        .result_type = arithmetic::Type::bytes,
                        .columns = columns,
                        .user = {.apply = add_all, .context = context.get(), .element_bytes = sizeof(double)},
                        .layout = LayoutKind::row_per_rank,
                        .rows = 1};
        group.reduce(call, {.first = reinterpret_cast<const std::byte*>(x.data()),
                            .result = reinterpret_cast<std::byte*>(result.data())});
        *context = 0.5;  // what stale pointers would find
        EXPECT_EQ(result.back(), p * (p + 1) / 2 + (p - 1) * more) << columns << " columns";
        contexts.push_back(std::move(context));
      }
    }
  });
}

/// Methods that need no index have no record to tell; a fingerprint does.
TEST(OneShot, FindsRowsThatAreThereTwiceWhereNoIndexCounts) {
  constexpr std::size_t p = 3;
  for (const Method method : {Method::exact, Method::binned, Method::plain}) {
    for (const Index row : {0u, 1u, 2u, 3u}) {  // {r, r, r} for {0, 1, 2}
      const std::vector<Interval> mine = {{row, row + 1}};
      const std::vector<Call> calls(p,
                                    {.method = method, .layout = LayoutKind::intervals, .rows = 1, .intervals = mine});
      for (const Came& came : made_at_once(calls, row + 1))
        EXPECT_TRUE(came.status == Status::gap || came.status == Status::overlap) << came.text;
    }
  }
}

}  // namespace
}  // namespace steadfold::test::one_shot_test
