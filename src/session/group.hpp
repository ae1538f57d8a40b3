// A group of ranks: the state that the library keeps for it, and its calls under way.
// Cost: a one-shot call is one handshake. If it does not fit the handshake, it also runs a plan. Source: End et al. for
// calls that are started, tested and waited for.
//
// Every call begins with a handshake, and many calls may be under way. Call i uses place i modulo `ring` of a ring of
// handshakes, once call i - ring is done on this rank. The rest of each call, after its handshake, runs one call after
// the other in the order of the starts. This order is the same on every rank, so the order in which cached plans, tags
// and MPI's own collectives are used is the same, too.
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

/// Calls of other groups in this process; null: there are never any.
struct Surroundings {
  bool (*is_any)() noexcept = nullptr;
  void (*move)() noexcept = nullptr;  // advances the other calls while a call of this group waits
  bool (*use)(const agreement::Footprint& memory) noexcept = nullptr;  // whether the other calls use this memory
};

/// For one thread at a time. Every rank starts the calls in the same order, and may end them in any order. Failures are
/// thrown as Failure, the same on every rank. One exception: an operator may fail on the root of a rooted call alone.
class Group {
 public:
  /// Local. `rows`: the schedules that callers can choose. `watched`: ends waits of this group.
  explicit Group(std::shared_ptr<transport::Transport> transport, schedule::Rows rows = schedule::registry(),
                 Surroundings others = {}, Watched watched = {});
  ~Group();

  /// Makes the places for calls, and waits until all ranks have done so. Otherwise the first call does this.
  /// Collective. Rank 0's environment variables count for all ranks.
  void set_up();

  Rank rank() const noexcept { return coordinator_.transport().rank(); }
  Rank rank_count() const noexcept { return coordinator_.transport().rank_count(); }
  const char* transport_name() const noexcept { return coordinator_.transport().name(); }

  using Started = std::shared_ptr<StartedCall>;
  /// Starts a one-shot call. It writes `result` as the call asks. Its data must stay in place, unchanged, until it is
  /// done. Everything else is copied.
  Started start_reduce(const Call& call, const Data& data);
  /// Starts to bind a plan; several calls make a bundle. The plan may outlive the group.
  Started start_bind(std::span<const Call> calls);
  /// Starts to find the indices of this rank's rows in rank order.
  Started start_rank_order(Count rows);
  /// Starts a call that is done once every rank has started it.
  Started start_barrier();

  /// Starts a call that only tells the other ranks why this rank does not make the call that is due.
  Started start_refusal(Failure why);

  /// Advances the call, and one other call under way, without waiting. Returns whether the call is done.
  bool advance(StartedCall& started);
  /// Advances one of the calls under way, in turn.
  void advance_another();
  /// Throws Failure, with the reason, if the transport cannot send any more, or if this rank has left out a call.
  void require_usable() const;
  /// Throws Failure, with the reason, if no other thread may advance calls.
  void require_threads() const;
  /// Whether a call under way uses this memory, so that another call must not use it.
  bool conflicts(const agreement::Footprint& other) const noexcept;
  bool is_idle() const noexcept { return first_ == nullptr; }
  /// From now on, binds may make plans that give ranks different bits in an allreduce. For measurements, on all ranks.
  /// No function of the C interface calls this.
  void let_ranks_differ() noexcept { coordinator_.let_ranks_differ(); }
  /// Takes back a call that nobody uses any more, for use by a later call.
  void take_back(Started started);

  // Blocking forms of the calls above. A barrier, or a reduction of a known shape, allocates no memory.
  void reduce(const Call& call, const Data& data);
  std::unique_ptr<Plan> bind(std::span<const Call> calls);
  RankOrder rank_order(Count rows);
  void barrier();
  [[noreturn]] void refuse(Failure why);

  /// Makes one of these calls, `body()`. If `body` throws before the call has its number, the other ranks get the error
  /// in place of this call. So no rank waits for the call, or takes this rank's next call for it.
  template <class Body>
  void in_turn(const Body& body) {
    answered(body, [this](Failure why) { refuse(std::move(why)); });
  }
  /// Starts one of these calls, `body()`. If `body` throws before the call has its number, the other ranks get the
  /// error.
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
      has_left_out_ |= next_number_ == begun;  // there was no memory for the refusal, either
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
  /// Whether the caller waits and nothing else is under way. Then the call is polled without a pause.
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
  bool has_left_out_ = false;     // there was no memory for a call, so the ranks number calls differently
  StartedCall* first_ = nullptr;  // first of the calls under way, in the order of their starts
  StartedCall* last_ = nullptr;
  std::size_t cursor_ = 0;     // the position of the call that `advance_another` advanced last
  std::vector<Started> idle_;  // for later calls
};

}  // namespace steadfold::session
