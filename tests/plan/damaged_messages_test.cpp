// Sends that fail and messages that arrive in part: by every schedule, in any communication of any rank. Nobody waits
// for ever, the rank that sees it says so, and who says that all is well has the right bits.
#include <gtest/gtest.h>

#include <random>

#include "support/deals.hpp"
#include "support/sanitized.hpp"
#include "support/simulated_job.hpp"
#include "support/wrapping_transport.hpp"

namespace steadfold::test::damaged_messages_test {
namespace {

using transport::Completion;
using transport::Endpoint;
using transport::SlotNumber;
using transport::Ticket;
using transport::Transport;

enum class Damage { none, lost, empty, header_alone, shorter, longer };
constexpr Damage all_damage[] = {Damage::lost, Damage::empty, Damage::header_alone, Damage::shorter, Damage::longer};

/// What is done to one rank's n-th message that completes, and whether it came to that.
struct Fault {
  Damage damage = Damage::none;
  std::uint64_t n = 0;
  bool to_a_send = false;
  std::uint64_t seen = 0;
  bool done = false;
};

class DamagingEndpoint final : public transport::ForwardingEndpoint {
 public:
  DamagingEndpoint(std::unique_ptr<Endpoint> inner, Fault& fault, Ticket tickets)
      : ForwardingEndpoint(std::move(inner)), fault_(fault), is_send_(tickets), capacity_(tickets) {}

  void put(Ticket ticket, Rank target, SlotNumber slot, std::span<const std::byte> bytes,
           std::optional<std::span<const std::byte>> second) noexcept override {
    is_send_[ticket] = true;
    inner().put(ticket, target, slot, bytes, second);
  }
  void release(Ticket ticket, Rank source, SlotNumber slot,
               const std::optional<transport::SecondRoom>& second) noexcept override {
    is_send_[ticket] = false;
    capacity_[ticket] = second ? second->head + second->room.size() : landing(slot).size();
    inner().release(ticket, source, slot, second);
  }
  std::size_t poll(std::span<Completion> completions) noexcept override {
    const std::size_t count = inner().poll(completions);
    for (Completion& each : completions.first(count))
      if (is_send_[each.ticket] == fault_.to_a_send && fault_.seen++ == fault_.n) damage(each);
    return count;
  }

 private:
  void damage(Completion& completion) noexcept {
    const Bytes before = completion.size;
    switch (fault_.damage) {
      case Damage::none: return;
      case Damage::lost: completion = {.ticket = completion.ticket, .failed = true}; break;
      case Damage::empty: completion.size = 0; break;
      case Damage::header_alone: completion.size = std::min<Bytes>(completion.size, 16); break;
      case Damage::shorter: completion.size -= std::min<Bytes>(completion.size, 8); break;
      case Damage::longer: completion.size = std::min(capacity_[completion.ticket], completion.size + 8); break;
    }
    fault_.done = completion.failed || completion.size != before;
  }

  Fault& fault_;
  std::vector<bool> is_send_;
  std::vector<Bytes> capacity_;
};

using DamagingTransport = WrappingTransport<DamagingEndpoint, Fault>;

struct Ended {
  bool stuck = false;
  std::vector<Status> statuses;
  std::vector<std::vector<double>> results;
};

/// One run in which `fault` befalls a rank. All ranks get the result.
Ended run(const Agreement& agreed, const std::vector<Call>& calls, const std::vector<double>& rows, Rank victim,
          Fault& fault, std::uint64_t seed) {
  const Count columns = calls[0].columns;
  SimulatedRanks ranks(static_cast<Rank>(calls.size()), seed);
  std::vector<std::unique_ptr<Plan>> plans;
  Ended ended;
  ended.results.assign(calls.size(), std::vector<double>(columns, -1));
  Index begin = 0;
  for (Rank rank = 0; rank < ranks.rank_count(); ++rank) {
    const auto i = static_cast<std::size_t>(rank);
    std::shared_ptr<Transport> transport = ranks.transport(rank);
    if (rank == victim) transport = std::make_shared<DamagingTransport>(std::move(transport), fault);
    plans.push_back(std::make_unique<Plan>(agreed, std::span(&calls[i], 1), std::move(transport), 2u));
  }
  ranks.connect();
  for (std::size_t i = 0; i < plans.size(); ++i) {
    const call::Data data{.first = reinterpret_cast<const std::byte*>(rows.data() + begin * columns),
                          .result = reinterpret_cast<std::byte*>(ended.results[i].data())};
    plans[i]->start(std::span(&data, 1), true);
    begin += calls[i].rows;
  }
  bool all_done = false;
  for (int sweep = 0; sweep < 5000 && !all_done; ++sweep) {
    all_done = true;
    for (const Rank rank : ranks.shuffled()) all_done &= plans[static_cast<std::size_t>(rank)]->test();
  }
  ended.stuck = !all_done;
  for (const auto& plan : plans) ended.statuses.push_back(all_done ? plan->status() : Status::internal);
  return ended;
}

/// Damages some messages of a call by every schedule. Returns how many it came to.
int damage_some(const Call& common, Rank p, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const Deal deal = contiguous_deal(std::vector<Count>(static_cast<std::size_t>(p), 1));
  std::vector<double> rows(static_cast<std::size_t>(p) * common.columns);
  for (double& x : rows) x = static_cast<double>(random() >> 11) * 0x1p-53;
  const std::vector<Call> calls = calls_for(common, deal);
  int done = 0;
  for (const std::string& name : names_for(common)) {
    const Concluded agreed = concluded(calls, name);
    if (agreed.status == Status::unsupported) continue;
    Fault none;
    const Ended good = run(*agreed.agreement, calls, rows, 0, none, seed);
    EXPECT_FALSE(good.stuck);
    for (const Damage damage : all_damage) {
      for (const bool to_a_send : {false, true}) {
        if (to_a_send && damage != Damage::lost) continue;
        const auto victim = static_cast<Rank>(random() % static_cast<std::uint64_t>(p));
        Fault fault{.damage = damage, .n = random() % 3, .to_a_send = to_a_send};
        SCOPED_TRACE(testing::Message() << name << ", columns " << common.columns << ", damage "
                                        << static_cast<int>(damage) << " to " << (to_a_send ? "send " : "receive ")
                                        << fault.n << " of rank " << victim << ", seed " << seed);
        const Ended found = run(*agreed.agreement, calls, rows, victim, fault, ++seed);
        EXPECT_FALSE(found.stuck);
        if (!fault.done || found.stuck) continue;
        ++done;
        EXPECT_NE(found.statuses[static_cast<std::size_t>(victim)], Status::ok) << "on the rank that saw it";
        for (std::size_t rank = 0; rank < calls.size(); ++rank)
          EXPECT_TRUE(found.statuses[rank] != Status::ok || found.results[rank] == good.results[rank]) << "on " << rank;
      }
    }
  }
  return done;
}

TEST(DamagedMessages, AreNoticedByTheRankThatGetsThem) {
  for (const Method method : {Method::tree, Method::exact, Method::binned, Method::plain}) {
    int done = 0;
    for (const Count columns : {1u, 40u, 1030u}) {
      for (const Rank p : {3, 5}) {
        if (sanitized && (columns == 40 || p == 5)) continue;
        const Call call{.method = method, .columns = columns, .layout = LayoutKind::rank_order};
        done += damage_some(call, p, 1000 * columns + static_cast<std::uint64_t>(p));
      }
    }
    EXPECT_GT(done, sanitized ? 100 : 200) << call::name_of(method);
  }
}

}  // namespace
}  // namespace steadfold::test::damaged_messages_test
