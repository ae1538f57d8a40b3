// A reduction that is agreed on once and run often: one rank's part of the agreed schedule over a transport.
// Rank order and cost: those of the schedule. A run allocates nothing once its first rows have been copied.
// Source: a plan is started, tested and waited for as in End et al.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "arithmetic/operator.hpp"
#include "call/initial_value.hpp"
#include "plan/agreement.hpp"
#include "plan/board_reduction.hpp"
#include "plan/bundle.hpp"
#include "plan/first_sweep.hpp"
#include "plan/rows.hpp"
#include "plan/stage.hpp"
#include "plan/status_exchange.hpp"

namespace steadfold::plan {

using call::Call;
using call::Data;
using call::Failure;
using call::InitialValue;

/// Checks a schedule that no sweep of proofs covers, before a plan is made. Returns a description of the fault, or an
/// empty text. All ranks get the same result.
std::string fault_of_schedule(const Agreement& agreed);

/// Throws Failure, with the reason, if the transport can no longer send.
void require_usable(const transport::Transport& transport);
/// Returns the error of a caller that starts or runs a plan before it has waited for the plan's last run.
Failure plan_is_running();

/// A plan of one call, or of a bundle of calls that share every message. Use the object from one thread at a time. A
/// plan keeps its transport alive. A plan uses as many tags as `tags_of` returns, from `tag` on.
class Plan {
 public:
  /// `calls` are this rank's calls, one per member of the agreement. `segments` is the largest number of segments; 0
  /// means as many segments as the schedule wants. A bundle has one segment.
  Plan(Agreement agreed, std::span<const Call> calls, std::shared_ptr<transport::Transport> transport,
       std::uint32_t tag, std::uint32_t segments = 0);
  static std::uint32_t tags_of(const Agreement& agreed) noexcept;
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;

  /// Starts a reduction of this rank's rows. `data` must have one entry per member, and the memory to which it points
  /// must stay valid until the run is done. If pointers are unusable or the number of entries is wrong, the rank still
  /// takes part, and all ranks get the error. Throws Failure if a run is under way. `stays` says that the caller waits
  /// until the run is done, whatever happens; see RowsPayload::take.
  void start(std::span<const Data> data, bool stays = false);
  void start(const Data& data) { start(std::span(&data, 1)); }
  /// Starts a run that fails on all ranks with this rank's failure.
  void refuse(const Failure& failure);
  /// `would_conflict` returns whether a run on these data would use memory for which `used` returns true. `conflicts`
  /// returns whether the run under way uses memory that another call wants to use.
  template <class Used>
  bool would_conflict(std::span<const Data> data, const Used& used) const {
    for (std::size_t i = 0; i < std::min(data.size(), members_.size()); ++i)
      if (used(members_[i]->footprint(data[i]))) return true;
    return false;
  }
  bool conflicts(const call::Footprint& other) const noexcept {
    return running_ && std::ranges::any_of(members_, [&](const std::unique_ptr<RowsPayload>& member) -> bool {
             return member->footprint().conflicts(other);
           });
  }
  /// Advances the run. Returns true when the run is done; then `status` returns its status. Never blocks. Each call
  /// does at most one piece of a merge or a finish (some ten microseconds), or a lift or copy of one segment. The last
  /// call also copies the results.
  bool test();
  void wait();
  /// Gives up the run under way, which will not be tested again. The other ranks must give up the run, too. Some ranks
  /// may already have started an operation that needs all ranks (the transport's addition of words); then this function
  /// starts the operation on this rank, too.
  void give_up();
  /// Waits at most until `deadline`, but tests at least once. Returns whether the run is done. If it is not done, it is
  /// still under way.
  bool wait_until(std::chrono::steady_clock::time_point deadline);
  Status status() const noexcept { return status_; }
  /// Returns the error of a failed run. A rank that knows the reason gives details.
  Failure failure() const;
  bool running() const noexcept { return running_; }
  /// Returns the status of the run for one member: the plan's status if the plan failed; else `ok`, or `empty` if the
  /// member has nothing to reduce and this rank would have received its value.
  Status status(std::size_t member) const noexcept { return statuses_[member]; }
  std::size_t member_count() const noexcept { return members_.size(); }
  /// Returns the number of rows in a member's result on this rank; in a scan, the rows of lower ranks, and of this rank
  /// if the scan includes it.
  Count rows_of_result(std::size_t member = 0) const noexcept;

  void run(std::span<const Data> data) {
    start(data, true);
    wait();
  }
  void run(const Data& data) { run(std::span(&data, 1)); }

  /// Replaces a member's operator, because the operator's context may change from run to run.
  void use_operator(const arithmetic::Operator& op, std::size_t member = 0) noexcept {
    members_[member]->use_operator(op);
  }

  /// Sets the number of threads that build the partial of a member's rows. The number may change from run to run.
  void use_threads(unsigned threads, std::size_t member = 0) {
    if (threads > pool_.size()) pool_.resize(threads);
    members_[member]->use_threads(threads);
  }

  /// Sets the array that describes a member's rows. The array may change from run to run.
  void use_array(const call::Array& array, std::size_t member = 0) noexcept { members_[member]->use_array(&array); }

  /// Throws Failure, with the reason, if the transport can no longer send.
  void require_usable() const { plan::require_usable(*transport_); }

  const Agreement& agreed() const noexcept { return agreed_; }
  /// Returns a text for users that describes the plan. Valid once the plan is connected.
  const std::string& description() const noexcept;
  /// Whether the plan's ranks reduce in common memory, without a schedule.
  bool may_reduce_on_board() const noexcept { return board_reduction_ != nullptr && board_reduction_->is_possible(); }

  void trace(bool on);
  /// Returns the messages and bytes that this rank sent in the last run, including the first sweep and the closing
  /// exchange of statuses.
  transport::Traffic traffic_of_last_run() const noexcept;
  /// Returns the number of rounds of the longest chain of messages. While tracing, the second sweep continues the count
  /// of the first sweep.
  std::uint32_t rounds() const noexcept { return rounds_before_ + main_.executor().rounds(); }

 private:
  Payload& payload();
  void begin_first_sweep();
  void take_in_first_sweep();
  void begin_main();
  bool advance();
  void conclude();
  void deliver();
  void take_initial();
  transport::Traffic sent() const noexcept;
  transport::Traffic traffic() const noexcept;

  Agreement agreed_;
  std::shared_ptr<transport::Transport> transport_;
  Segmentation segmentation_;
  ThreadPool pool_;
  std::vector<std::unique_ptr<RowsPayload>> members_;
  std::vector<std::unique_ptr<InitialValue>> initial_;  // by member; null if it has none
  std::optional<Bundle> bundle_;                        // only if the plan has several members
  std::vector<std::byte> surveyed_;
  std::unique_ptr<Plan> first_sweep_;  // only if members read their rows twice
  std::uint32_t rounds_before_ = 0;    // number of rounds of the first sweep; set while tracing
  Stage main_;
  StatusExchange status_exchange_;
  // Exchange of statuses; only if a user's operator may fail after the last message.
  std::optional<Stage> closing_;
  std::unique_ptr<BoardReduction> board_reduction_;  // only if the ranks see each other's memory
  // Whether this run uses board_reduction_; the ranks may find out during the run that they cannot use it.
  bool is_on_board_ = false;
  bool is_traced_ = false;
  bool has_initial_ = false;  // whether a member has an initial value
  bool in_closing_ = false;
  bool running_ = false;
  bool bounded_ = false;  // set if the caller tests, and does other work between the tests
  bool is_empty_;         // there are no columns, so nothing is sent
  bool gets_result_;      // whether this rank gets the result
  order::Interval due_;   // the segments of which this rank gets the result
  Status status_ = Status::ok;
  std::vector<Status> statuses_;  // by member
  std::size_t given_ = 0;         // number of entries of data in the last start
  std::optional<Failure> refusal_;
  transport::Traffic before_;
  std::string text_;
  std::string text_on_board_;
};

}  // namespace steadfold::plan
