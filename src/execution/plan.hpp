// A reduction agreed on once and run often: the agreed schedule over a transport, on one rank.
// Rank order and cost: the schedule's; a run allocates nothing once its first rows were copied. Source: [S4] for start,
// test and wait.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "agreement/agreement.hpp"
#include "agreement/first_sweep.hpp"
#include "arithmetic/operator.hpp"
#include "execution/bundle.hpp"
#include "execution/rows.hpp"
#include "execution/stage.hpp"
#include "execution/status_exchange.hpp"
#include "execution/together.hpp"

namespace steadfold::execution {

using agreement::Agreement;
using agreement::Call;
using agreement::Data;
using agreement::Failure;
using agreement::Segmentation;

/// What is wrong with a schedule that no sweep of proofs has, for the plan to be made; empty when nothing is. The same
/// on all ranks.
std::string fault_of_schedule(const Agreement& agreed);

/// Throws Failure, with the reason, if the transport can send nothing any more.
void require_usable(const transport::Transport& transport);
/// What is said where a plan is started or run before the end of its last run was waited for.
Failure plan_is_running();

/// A plan of one call, or of a bundle of calls that share every message. One thread at a time. Keeps the transport
/// alive. Uses the tags from `tag` on, as many as `tags_of` says.
class Plan {
 public:
  /// `calls` are this rank's, one per member of the agreement. `segments`: the most there may be, 0: as the schedule
  /// wants. A bundle has one.
  Plan(Agreement agreed, std::span<const Call> calls, std::shared_ptr<transport::Transport> transport,
       std::uint32_t tag, std::uint32_t segments = 0);
  static std::uint32_t tags_of(const Agreement& agreed) noexcept;
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;

  /// Begins to reduce this rank's rows; `data` has as many entries as there are members, and what they point to stays
  /// until the run is done. Unusable pointers, or another number of entries, do not stop it: the rank takes part, and
  /// all learn of it. Throws Failure while one runs.
  /// `stays`: the caller stays until the run is done, whatever happens; see RowsPayload::take.
  void start(std::span<const Data> data, bool stays = false);
  void start(const Data& data) { start(std::span(&data, 1)); }
  /// Begins a run that fails on all ranks, for what this rank knows to be wrong.
  void refuse(const Failure& failure);
  /// Whether a run on these data would use memory that `used` says is in use; and whether the run under way uses what
  /// another call is about to use.
  template <class Used>
  bool would_conflict(std::span<const Data> data, const Used& used) const {
    for (std::size_t i = 0; i < std::min(data.size(), members_.size()); ++i)
      if (used(members_[i]->footprint(data[i]))) return true;
    return false;
  }
  bool conflicts(const agreement::Footprint& other) const noexcept {
    return running_ && std::ranges::any_of(members_, [&](const std::unique_ptr<RowsPayload>& member) -> bool {
             return member->footprint().conflicts(other);
           });
  }
  /// True when the run is done; then `status` says how it ended. Never blocks: does no more than one piece of a merge
  /// or a finish, some ten microseconds, or a lift or copy of one segment. The last one copies the results, too.
  bool test();
  void wait();
  /// The run under way will not be asked for again; the other ranks give it up too. What some of them may have begun
  /// that needs all ranks, the transport's adding of words, is begun here as well.
  void give_up();
  /// Waits no longer than that, but tests once in any case; says whether the run is done. If not, it goes on.
  bool wait_until(std::chrono::steady_clock::time_point deadline);
  Status status() const noexcept { return status_; }
  /// What to say of a run that failed: more on the rank that knows why.
  Failure failure() const;
  bool running() const noexcept { return running_; }
  /// How the run ended for one member: as for the plan if that failed; else `ok`, or `empty` if this rank would have
  /// got its value.
  Status status(std::size_t member) const noexcept { return statuses_[member]; }
  std::size_t member_count() const noexcept { return members_.size(); }

  void run(std::span<const Data> data) {
    start(data, true);
    wait();
  }
  void run(const Data& data) { run(std::span(&data, 1)); }

  /// The context of a member's operator may change from run to run.
  void use_operator(const arithmetic::Operator& op, std::size_t member = 0) noexcept {
    members_[member]->use_operator(op);
  }

  /// How many threads lift a member's rows may change too.
  void use_threads(unsigned threads, std::size_t member = 0) {
    if (threads > team_.size()) team_.resize(threads);
    members_[member]->use_threads(threads);
  }

  /// How a member's rows stand may change, where they are those of an array.
  void use_array(const agreement::Array& array, std::size_t member = 0) noexcept {
    members_[member]->use_array(&array);
  }

  /// Throws Failure, with the reason, if the transport can send nothing any more.
  void require_usable() const { execution::require_usable(*transport_); }

  const Agreement& agreed() const noexcept { return agreed_; }
  /// To be asked once it is connected.
  const std::string& description() const noexcept;
  /// Whether its ranks reduce in memory that all of them see, by no schedule.
  bool may_run_together() const noexcept { return together_ != nullptr && together_->is_possible(); }

  void trace(bool on);
  /// What this rank sent, the first sweep and the question about the operator included.
  transport::Traffic traffic_of_last_run() const noexcept;
  /// Rounds of the longest chain of messages; the second sweep counts on from the end of the first.
  std::uint32_t rounds() const noexcept { return rounds_before_ + main_.executor().rounds(); }

 private:
  Payload& payload();
  void begin_first_sweep();
  void take_in_first_sweep();
  void begin_main();
  bool advance();
  void conclude();
  void deliver();
  transport::Traffic sent() const noexcept;
  transport::Traffic traffic() const noexcept;

  Agreement agreed_;
  std::shared_ptr<transport::Transport> transport_;
  Segmentation segmentation_;
  ThreadTeam team_;
  std::vector<std::unique_ptr<RowsPayload>> members_;
  std::optional<Bundle> bundle_;  // of several members
  std::vector<std::byte> surveyed_;
  std::unique_ptr<Plan> first_sweep_;  // where members are gone through twice
  std::uint32_t rounds_before_ = 0;    // those of the first sweep, while tracing
  Stage main_;
  StatusExchange status_exchange_;
  std::optional<Stage> closing_;        // where an operator may fail after the last message
  std::unique_ptr<Together> together_;  // where ranks see each other's memory
  bool is_together_ = false;            // this run, until the ranks find out otherwise
  bool is_traced_ = false;
  bool in_closing_ = false;
  bool running_ = false;
  bool bounded_ = false;  // the caller tests, and does something else in between
  bool is_empty_;         // no columns: nothing is sent
  bool gets_result_;      // this rank
  order::Interval due_;   // its segments
  Status status_ = Status::ok;
  std::vector<Status> statuses_;  // by member
  std::size_t given_ = 0;         // entries of data in the last start
  std::optional<Failure> refusal_;
  transport::Traffic before_;
  std::string text_;
  std::string text_together_;
};

}  // namespace steadfold::execution
