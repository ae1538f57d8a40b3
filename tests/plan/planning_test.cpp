// What one rank of very many pays for its plan: time and memory, with starts in closed form and as bind does it today.
#include <gtest/gtest.h>
#include <malloc.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <numeric>

#include "order/distribution.hpp"
#include "plan/agreement.hpp"
#include "plan/choice.hpp"
#include "plan/plan.hpp"
#include "support/sanitized.hpp"

namespace steadfold::planning_test {
namespace {

using order::Bytes;
using order::Count;
using order::Rank;

constexpr bool measures = !test::sanitized;  // sanitizers have a heap of their own, and take their time

/// One rank of a job that is not there: it has landing slots, and nothing ever arrives.
class Unconnected final : public transport::Transport {
 public:
  Unconnected(Rank rank, Rank rank_count) : rank_(rank), rank_count_(rank_count) {}
  Rank rank() const noexcept override { return rank_; }
  Rank rank_count() const noexcept override { return rank_count_; }
  void gather(std::span<const std::byte>) override {}
  std::optional<Gathered> gathered() override { return Gathered{}; }

  void connect(bool) override {}
  transport::Connection connected() override { return transport::Connection::connected; }
  std::unique_ptr<transport::Endpoint> prepare(std::uint32_t, std::span<const Bytes> capacities, transport::Ticket,
                                               transport::WordOrder) override {
    auto end = std::make_unique<End>();
    for (const Bytes capacity : capacities) end->slots.emplace_back(capacity);
    return end;
  }

 private:
  struct End final : transport::Endpoint {
    std::vector<std::vector<std::byte>> slots;
    std::span<std::byte> landing(transport::SlotNumber slot) noexcept override { return slots[slot]; }
    void put(transport::Ticket, Rank, transport::SlotNumber, std::span<const std::byte>,
             std::optional<std::span<const std::byte>>) noexcept override {}
    void release(transport::Ticket, Rank, transport::SlotNumber,
                 const std::optional<transport::SecondRoom>&) noexcept override {}
    void add_words(transport::Ticket, std::span<std::int64_t>) noexcept override {}
    std::size_t poll(std::span<transport::Completion>) noexcept override { return 0; }
    transport::Traffic traffic() const noexcept override { return {}; }
  };
  Rank rank_;
  Rank rank_count_;
};

struct Spent {
  double seconds;
  std::size_t bytes;  // of memory still held
};

template <class Make>
Spent spent_by(const Make& make) {
  const auto held = mallinfo2();
  const auto begin = std::chrono::steady_clock::now();
  const auto made = make();
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  const auto holds = mallinfo2();
  return {seconds.count(), holds.uordblks + holds.hblkhd - held.uordblks - held.hblkhd};
}

call::Call call_of(std::string_view schedule, Rank root) {
  return {.method = call::Method::tree,
          .root = root,
          .collective = call::reduction_to(root),
          .schedule = schedule,
          .layout = call::LayoutKind::rank_order};
}

std::unique_ptr<plan::Plan> planned(const call::Call& call, const order::TwoShares& shares, Rank rank) {
  const auto description = call::describe(call);
  plan::Agreement agreed{.members = {}, .schedule = {}, .chosen = {.schedule = std::string(call.schedule)}};
  agreed.members.push_back({.description = description,
                            .digest = call::digest_of(description),
                            .layout = std::make_shared<const order::Layout>(order::Layout::contiguous(shares)),
                            .element_count = shares.element_count()});
  agreed.digest = agreed.members.front().digest;
  agreed.schedule = plan::checked_schedule(agreed.chosen.schedule, std::span(&description, 1));
  call::Call mine = call;
  mine.rows = shares.count(rank);
  return std::make_unique<plan::Plan>(std::move(agreed), std::span(&mine, 1),
                                      std::make_shared<Unconnected>(rank, shares.rank_count()), 2);
}

TEST(Planning, WithClosedStartsTakesAMillionRanksUnderAMillisecondAndAMebibyte) {
  constexpr Rank p = 1 << 20;
  constexpr Count n = Count{1} << 40;
  for (const auto rule : {order::Distribution::lower, order::Distribution::upper, order::Distribution::power2}) {
    const auto shares = order::closed_form(rule, n + 12345, p).value();
    for (const auto& [schedule, root] : {std::pair{"binomial", 0}, {"recursive_doubling", call::all_ranks}}) {
      for (const Rank rank : {0, 1, p / 2, p - 1}) {
        Spent least{1, 0};
        for (int i = 0; i < 20; ++i) {  // other processes may have the core at times
          const Spent each = spent_by([&] { return planned(call_of(schedule, root), shares, rank); });
          least = {std::min(least.seconds, each.seconds), std::max(least.bytes, each.bytes)};
        }
        if (rank == 0)
          std::printf("%-20s rank 0 of 2^20: %.0f us, %.1f KiB\n", schedule, least.seconds * 1e6,
                      static_cast<double>(least.bytes) / 1024);
        if (!measures) continue;
        EXPECT_LT(least.seconds, 1e-3) << schedule << " on rank " << rank;
        EXPECT_LT(least.bytes, 1u << 20) << schedule << " on rank " << rank;
        EXPECT_GT(least.bytes, 0u);
      }
    }
  }
}

/// What bind does on every rank: it takes in what each told. Not held to a bound: its price is the open point.
TEST(Planning, AsBindDoesItGrowsWithTheRanks) {
  constexpr Rank p = 1 << 16;
  const auto call = call_of("binomial", 0);
  const std::vector<std::byte> told = plan::tell(std::span(&call, 1));
  const std::vector<std::span<const std::byte>> all(p, told);
  const Spent spent = spent_by([&] { return plan::settle(std::span(&call, 1), all, p).value(); });
  std::printf("bind at 2^16 ranks: %zu bytes gathered a rank, %.1f ms to settle, %.1f KiB held\n",
              told.size() * static_cast<std::size_t>(p), spent.seconds * 1e3, static_cast<double>(spent.bytes) / 1024);
  if (measures) {
    EXPECT_GE(spent.bytes, sizeof(std::size_t) * static_cast<std::size_t>(p)) << "a table, as its file says";
  }
}

}  // namespace
}  // namespace steadfold::planning_test
