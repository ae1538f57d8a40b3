// What the library keeps for a group of ranks, and the calls that are under way on it.
// Cost: a one-shot call is one handshake, and a plan's run too if it does not fit in there. Source: [S4] for
// calls that are started, tested and waited for.
//
// Every call begins with a handshake, and many may be under way: call i uses place i modulo `ring` of a ring of
// handshakes, once call i - ring is done on this rank. What follows the handshake goes one call after the other, in the
// order of the starts, which is the same on every rank: hence cached plans, tags and MPI's own collectives are too.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agreement/failure.hpp"
#include "execution/plan.hpp"
#include "session/contribution.hpp"
#include "session/coordinator.hpp"
#include "session/started_call.hpp"
#include "session/watch.hpp"

namespace steadfold::session {

using agreement::Agreement;
using agreement::Failure;
using execution::Handshake;
using execution::Plan;

/// What else is under way in this process; null: nothing ever is.
struct Surroundings {
  bool (*is_any)() noexcept = nullptr;
  void (*move)() noexcept = nullptr;                                   // what calls that wait do meanwhile
  bool (*use)(const agreement::Footprint& memory) noexcept = nullptr;  // what conflicts with a call on that memory
};

/// One thread at a time; calls are started in the same order on every rank, and may be ended in any. Failures are
/// thrown as Failure, the same on every rank, except that an operator may fail on the root of a rooted call alone.
class Group {
 public:
  /// Local. `rows`: the schedules that can be asked for. `watched`: what ends its waits.
  explicit Group(std::shared_ptr<transport::Transport> transport, schedule::Rows rows = schedule::registry(),
                 Surroundings others = {}, Watched watched = {});
  ~Group();

  /// What the first call does if nobody has before, and waits until all ranks have come so far. Collective: rank 0's
  /// environment variables count for all.
  void set_up();

  Rank rank() const noexcept { return coordinator_.transport().rank(); }
  Rank rank_count() const noexcept { return coordinator_.transport().rank_count(); }
  const char* transport_name() const noexcept { return coordinator_.transport().name(); }

  using Started = std::shared_ptr<StartedCall>;
  /// Starts a one-shot call: `result` is written where the call wants it. Its data stay where they are and as they are
  /// until it is done; all else is copied.
  Started start_reduce(const Call& call, const Data& data);
  /// Starts to agree on a plan; several calls make a bundle. The plan may outlive the group.
  Started start_bind(std::span<const Call> calls);
  /// Starts to find out which rows are this rank's.
  Started start_rank_order(Count rows);
  /// Starts a call that is done once every rank has started it.
  Started start_barrier();

  /// Starts to tell the other ranks, in the place of any call, why this one does not make it.
  Started start_refusal(Failure why);

  /// Moves the call on, and another one that is under way; says whether it is done. Never waits.
  bool advance(StartedCall& started);
  /// Moves one of the calls under way on, in turn.
  void advance_another();
  /// Throws Failure, with the reason, if the transport can send nothing any more, or this rank has left out a call.
  void require_usable() const;
  /// Throws Failure, with the reason, if no other thread may move calls on.
  void require_threads() const;
  /// Whether a call under way uses memory that another call is about to use.
  bool conflicts(const agreement::Footprint& other) const noexcept;
  bool is_idle() const noexcept { return first_ == nullptr; }
  /// From now on plans may be bound whose ranks get different bits in an allreduce. For measurements, on all ranks; no
  /// function of the C interface leads here.
  void let_ranks_differ() noexcept { coordinator_.let_ranks_differ(); }
  /// Takes back what nobody asks for any more, to use it again.
  void take_back(Started started);

  // Blocking forms of the calls above. A barrier, and a reduction of a shape made before, allocates nothing.
  void reduce(const Call& call, const Data& data);
  std::unique_ptr<Plan> bind(std::span<const Call> calls);
  RankOrder rank_order(Count rows);
  void barrier();
  [[noreturn]] void refuse(Failure why);

  /// Makes one of these calls, `body()`. What it throws before the call has its place among the group's calls the other
  /// ranks are told there in its stead: nobody waits for it, or takes this rank's next call for it.
  template <class Body>
  void in_turn(const Body& body) {
    answered(body, [this](Failure why) { refuse(std::move(why)); });
  }
  /// Starts one of these calls, `body()`. What it throws before the call has its place is told to the other ranks.
  template <class Body>
  Started start_in_turn(const Body& body) {
    return answered(body, [this](Failure why) { return start_refusal(std::move(why)); });
  }

 private:
  static constexpr std::size_t ring = HandshakePlace::ring;

  template <class Body, class Refuse>
  auto answered(const Body& body, const Refuse& refuse) -> decltype(body()) {
    const std::uint64_t begun = next_number_;
    std::optional<Failure> failure;
    try {
      try {
        return body();
      } catch (...) {
        if (next_number_ != begun) throw;
        failure = agreement::caught_failure();
      }
      return refuse(*std::move(failure));
    } catch (...) {
      has_left_out_ |= next_number_ == begun;  // it had no memory for that, either
      throw;
    }
  }

  Started begin(Asked asked, std::span<const Call> calls);
  Started kept(Started started);
  void begin_work(StartedCall& started);
  Task<> make_places(Flow& flow, std::uint64_t first);
  Task<> set_up_before(Flow& flow, const StartedCall& started);
  void bring(StartedCall& started, const Data& data);
  void wait_for(StartedCall& started);
  void carry_out(Started started);
  /// Whether its caller waits and nothing else is under way: then polls follow each other at once.
  bool is_alone_with(const StartedCall& started) const noexcept {
    return started.caller_stays_ && first_ == &started && started.next_ == nullptr &&
           (others_.is_any == nullptr || !others_.is_any()) && !watched_.is_on();
  }
  void move(StartedCall& started);
  Task<> work_of(StartedCall& started);
  void enqueue(StartedCall& started) noexcept;
  void dequeue(StartedCall& started) noexcept;
  Task<> carry_out_reduction(Flow& flow, StartedCall& started);
  Task<> carry_out_bind(Flow& flow, StartedCall& started);
  Task<> carry_out_rank_order(Flow& flow, StartedCall& started);
  Task<> carry_out_barrier(Flow& flow, StartedCall& started);

  Task<Status> meet(Flow& flow, StartedCall& started, Header mine);
  Task<> turn_of(Flow& flow, const StartedCall& started);
  Task<> diagnose(Flow& flow, StartedCall& started, const Call* call, Status status, std::optional<Failure> mine);
  Task<> run_plan(Flow& flow, StartedCall& started, const Contribution& own, Ways ways);

  HandshakePlace& place_of(const StartedCall& started) noexcept { return *places_[started.number_ % ring]; }
  std::vector<Description> usable(std::span<const Call> calls) const;

  Coordinator coordinator_;
  Contributor contributor_{coordinator_.transport().rank(), coordinator_.transport().rank_count(),
                           coordinator_.means()};
  Surroundings others_;
  Watched watched_;
  bool is_set_up_ = false;
  std::array<std::unique_ptr<HandshakePlace>, ring> places_;

  std::uint64_t next_number_ = 0;
  bool has_left_out_ = false;  // a call, for want of memory: this rank's numbers are not those of the others any more
  StartedCall* first_ = nullptr;  // of those under way, in the order of their starts
  StartedCall* last_ = nullptr;
  std::size_t cursor_ = 0;     // among those that may have a place
  std::vector<Started> idle_;  // to be used again
};

}  // namespace steadfold::session
