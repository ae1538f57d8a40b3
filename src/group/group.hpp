// A group of ranks: the state that the library keeps for it, and its calls under way.
// Cost: a one-shot call costs one handshake. If its partial does not fit the handshake, the call also runs a plan.
// Source: calls are started, tested and waited for as in End et al.
//
// Every call begins with a handshake, and many calls may be under way. Call i uses state i modulo `ring` of a ring of
// handshakes, once call i - ring is done on this rank. The rest of each call, after its handshake, runs one call after
// the other in the order of the starts. This order is the same on every rank, so the order in which cached plans, tags
// and MPI's own collectives are used is the same, too.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "call/failure.hpp"
#include "group/contribution.hpp"
#include "group/coordinator.hpp"
#include "group/started_call.hpp"
#include "group/watch.hpp"
#include "plan/plan.hpp"

namespace steadfold::group {

using call::Failure;
using plan::Agreement;
using plan::Plan;

/// How calls of one group reach the calls of other groups in this process. Null: this process has no other groups.
struct Surroundings {
  bool (*is_any)() noexcept = nullptr;
  void (*move)() noexcept = nullptr;  // advances the calls of other groups while a call of this group waits
  // Returns whether calls of other groups use this memory.
  bool (*use)(const call::Footprint& memory) noexcept = nullptr;
};

/// Use the object from one thread at a time. Every rank starts the calls in the same order, and may end them in any
/// order. A failed call throws Failure, the same on every rank. One exception: in a call with a root, an operator may
/// fail on the root alone.
class Group {
 public:
  /// `algorithms` lists the schedules that callers can choose. `watched` can end the waits of this group. Local.
  explicit Group(std::shared_ptr<transport::Transport> transport,
                 schedule::Algorithms algorithms = schedule::registry(), Surroundings others = {},
                 Watched watched = {});
  ~Group();

  /// Makes the handshake states for calls, and waits until all ranks have done so. If the caller does not call this
  /// function, the first call does. All ranks use rank 0's environment variables. Collective.
  void set_up();

  Rank rank() const noexcept { return coordinator_.transport().rank(); }
  Rank rank_count() const noexcept { return coordinator_.transport().rank_count(); }
  const char* transport_name() const noexcept { return coordinator_.transport().name(); }

  using Started = std::shared_ptr<StartedCall>;
  /// Starts a one-shot call, which writes its result to `data.result`. The data must stay in place and unchanged until
  /// the call is done. All other arguments are copied.
  Started start_reduce(const Call& call, const Data& data);
  /// Starts to bind a plan of one call, or of several calls (a bundle). The plan may outlive the group.
  Started start_bind(std::span<const Call> calls);
  /// Starts to find the indices of this rank's rows, in rank order.
  Started start_rank_order(Count rows);
  /// Starts a barrier: a call that is done after every rank has started it.
  Started start_barrier();

  /// Starts a call that tells the other ranks why this rank does not make its next call.
  Started start_refusal(Failure why);

  /// Advances the call, and one other call under way, without waiting. Returns whether the first call is done.
  bool advance(StartedCall& started);
  /// Advances one of the calls under way, in turn.
  void advance_another();
  /// Throws Failure, with the reason, if the transport can no longer send, or if this rank could not start a call that
  /// the other ranks started.
  void require_usable() const;
  /// Throws Failure, with the reason, if other threads may not advance calls.
  void require_threads() const;
  /// Returns whether a call under way uses memory in `other`, so that another call must not use this memory.
  bool conflicts(const call::Footprint& other) const noexcept;
  bool is_idle() const noexcept { return first_ == nullptr; }
  /// After this call, the group may bind plans that give ranks different bits in an allreduce. Only for measurements.
  /// All ranks must call the function. No function of the C interface calls this.
  void let_ranks_differ() noexcept { coordinator_.let_ranks_differ(); }
  /// Returns the object of a finished call to the group, which uses it for a later call.
  void take_back(Started started);

  // Makes a call and waits for its end. A barrier, or a reduction of a known shape, allocates no memory.
  void reduce(const Call& call, const Data& data);
  std::unique_ptr<Plan> bind(std::span<const Call> calls);
  RankOrder rank_order(Count rows);
  void barrier();
  [[noreturn]] void refuse(Failure why);

  /// Makes a call with the function `body()`. If `body` throws before the call has its number, the other ranks get the
  /// error in place of this call. So no rank waits for this call, or confuses it with this rank's next call.
  template <class Body>
  void in_turn(const Body& body) {
    answered(body, [this](Failure why) { refuse(std::move(why)); });
  }
  /// Starts a call with the function `body()`. If `body` throws before the call has its number, the other ranks get the
  /// error.
  template <class Body>
  Started start_in_turn(const Body& body) {
    return answered(body, [this](Failure why) { return start_refusal(std::move(why)); });
  }

 private:
  static constexpr std::size_t ring = HandshakeState::ring;

  template <class Body, class Refuse>
  auto answered(const Body& body, const Refuse& refuse) -> decltype(body()) {
    const std::uint64_t begun = next_number_;
    std::optional<Failure> failure;
    try {
      try {
        return body();
      } catch (...) {
        if (next_number_ != begun) throw;
        failure = call::caught_failure();
      }
      return refuse(*std::move(failure));
    } catch (...) {
      has_left_out_ |= next_number_ == begun;  // memory ran out also for the call that would have reported the error
      throw;
    }
  }

  Started begin(Asked asked, std::span<const Call> calls, bool caller_stays = false);
  Started kept(Started started);
  void begin_work(StartedCall& started);
  Task<> make_states(Flow& flow, std::uint64_t first);
  Task<> set_up_before(Flow& flow, const StartedCall& started);
  void bring(StartedCall& started, const Data& data);
  void wait_for(StartedCall& started);
  void carry_out(Started started);
  /// Returns whether the caller waits and no other call is under way. If so, the call is polled without a pause.
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
  Task<bool> run_plan(Flow& flow, StartedCall& started, const Contribution& own, Ways ways);

  HandshakeState& state_of(const StartedCall& started) noexcept { return *states_[started.number_ % ring]; }
  std::vector<Description> usable(std::span<const Call> calls) const;

  Coordinator coordinator_;
  Contributor contributor_{coordinator_.transport().rank(), coordinator_.transport().rank_count(),
                           coordinator_.means()};
  Surroundings others_;
  Watched watched_;
  bool is_set_up_ = false;
  std::array<std::unique_ptr<HandshakeState>, ring> states_;

  std::uint64_t next_number_ = 0;
  // Memory ran out for a call object, so this rank numbers its calls differently from the other ranks.
  bool has_left_out_ = false;
  StartedCall* first_ = nullptr;  // the first of the calls under way, in the order of their starts
  StartedCall* last_ = nullptr;
  std::size_t cursor_ = 0;     // the position of the call that `advance_another` advanced last
  std::vector<Started> idle_;  // objects of finished calls, for use by later calls
};

}  // namespace steadfold::group
