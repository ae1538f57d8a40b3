// What the APIs for C++20 and C++17 share of bundles, several reductions in one message: options, results and plans.
// Included by bundle.hpp and cxx17.hpp, which are the headers to include.
#pragma once

#include "steadfold/common_group.hpp"

#if __cplusplus >= 201703L

namespace steadfold {

/// How to reduce one member; the same on all ranks except for the layout's content.
struct MemberOptions {
  Method method = {};
  Layout layout = {};
  Guarantees require = {};
  unsigned threads = 1;  ///< that go through this rank's own elements; ranks may differ
};

/// What the members of a bundle share; the same on all ranks.
struct BundleOptions {
  std::optional<int> root = std::nullopt;  ///< who gets the results; nothing: everybody
  std::string schedule = {};               ///< a name of `steadfold schedules`; empty: the library's choice
};

namespace detail {

/// One reduction of a bundle: its operator, where its elements are, and its result.
class BundleMember {
 public:
  virtual ~BundleMember() = default;
  virtual sf_call call() = 0;
  /// How many elements the caller's range has now.
  virtual std::uint64_t size() const = 0;
  /// Why a run cannot use the caller's ranges; empty if it can.
  virtual std::string fault() const { return {}; }
  virtual sf_data data() = 0;
  virtual std::shared_ptr<OperatorHolder> holder() = 0;

  enum class Phase { idle, running, ended };
  Phase phase = Phase::idle;
  sf_status status = SF_OK;  // of the last run that ended
};

}  // namespace detail

/// A member's result in the last run of a plan bound to it. Copies refer to the same result.
template <class T>
class Result {
 public:
  /// For bundles, which make it.
  Result(std::shared_ptr<const detail::BundleMember> member, const T* value)
      : member_(std::move(member)), value_(value) {}

  /// Throws Error if the member had nothing to reduce, before the first run, and between `start` and the end of the
  /// run. On ranks that get no result a NaN (integers: 0).
  const T& value() const {
    using Phase = detail::BundleMember::Phase;
    if (member_->phase == Phase::idle)
      throw Error(SF_INVALID_ARGUMENT, "no value yet (no plan of the bundle has run), run one first");
    if (member_->phase == Phase::running)
      throw Error(SF_INVALID_ARGUMENT, "no value (a run was started and has not ended), call wait or test first");
    if (member_->status == SF_EMPTY)
      throw Error(SF_EMPTY, "nothing to reduce (no rank brought an element to this member), check the count first");
    if (member_->status != SF_OK)
      throw Error(member_->status, "no value (the bundle's last run failed), see what it threw");
    return *value_;
  }

 private:
  std::shared_ptr<const detail::BundleMember> member_;
  const T* value_;  // within the member
};

/// A bundle agreed on once and run often: a run allocates nothing. Move-only; one thread at a time; unusable after
/// MPI_Finalize. Collective.
class BundlePlan : public detail::BoundPlan {
 public:
  using Members = std::vector<std::shared_ptr<detail::BundleMember>>;

  /// For bundles, which make it.
  BundlePlan(const Members& members, Group group, const BundleOptions& options) {
    const std::vector<sf_call> calls = detail::told(group, [&] {
      members_ = members;
      return take_calls(options);
    });
    sf_plan* plan = nullptr;
    check(sf_group_bind(calls.data(), calls.size(), group.handle(), &plan));
    own(plan);
  }

  /// Reduces what the members' ranges hold now. Ranges of another size than at `bind`, on any rank, fail the run on all
  /// ranks. If a member had nothing to reduce, its `value` throws, but not this call.
  void run() {
    std::string fault = look();
    const sf_status status = sf_bundle_run(get(), data_.data(), data_.size());
    if (is_running_) return check(status);  // refused: the run under way goes on
    fault_ = std::move(fault);
    is_running_ = true;
    conclude(status);
  }

  /// In two phases. The plan uses the members' memory, which must stay where it is, until the run has ended. There is
  /// no value meanwhile.
  void start() {
    std::string fault = look();
    check(sf_bundle_start(get(), data_.data(), data_.size()));
    fault_ = std::move(fault);
    is_running_ = true;
    for (const auto& member : members_) member->phase = detail::BundleMember::Phase::running;
  }
  bool test() {
    sf_status status = SF_OK;
    const bool is_done = done(status);
    is_done ? conclude(status) : check(status);
    return is_done;
  }
  void wait() { conclude(sf_plan_wait(get())); }
  /// Waits at most this long; says whether the run has ended. If not, it goes on: call this, `test` or `wait` again.
  template <class Count, class Period>
  bool wait_for(std::chrono::duration<Count, Period> timeout) {
    sf_status status = SF_OK;
    const bool is_done = done_within(detail::nanoseconds_of(timeout), status);
    is_done ? conclude(status) : check(status);
    return is_done;
  }

 private:
  friend struct detail::PlanAccess;
  explicit BundlePlan(Members members) : members_(std::move(members)) {}

  /// The members' calls as they are now, for the time of a bind.
  std::vector<sf_call> take_calls(const BundleOptions& options) {
    std::vector<sf_call> calls;
    for (const auto& member : members_) {
      calls.push_back(member->call());
      calls.back().root = detail::root_of(options.root);
      calls.back().schedule = options.schedule.empty() ? nullptr : options.schedule.c_str();
      sizes_.push_back(member->size());
      own(member->holder());
    }
    data_.reserve(members_.size());
    return calls;
  }

  /// Finds where the members' elements are now. Returns what is wrong with them, if anything: then there are no
  /// elements, which the library reports to all ranks, so that nobody waits for this one.
  std::string look() {
    data_.clear();
    for (std::size_t i = 0; i < members_.size(); ++i) {
      std::string fault = members_[i]->fault();
      if (members_[i]->size() != sizes_[i])
        fault = std::to_string(members_[i]->size()) + " elements (the plan was bound for " + std::to_string(sizes_[i]) +
                " on this rank), keep the size or bind another plan";
      if (!fault.empty()) {
        data_.clear();
        return (members_.size() == 1 ? "" : "call " + std::to_string(i) + ": ") + fault;
      }
      data_.push_back(members_[i]->data());
    }
    return {};
  }
  /// Reports how the last run ended, and tells the members if it was still under way.
  void conclude(sf_status status) {
    for (std::size_t i = 0; is_running_ && i < members_.size(); ++i) {
      detail::BundleMember& member = *members_[i];
      member.status = status <= SF_EMPTY ? sf_bundle_status(get(), i) : status;
      member.phase = detail::BundleMember::Phase::ended;
    }
    is_running_ = false;
    if (status == SF_INVALID_ARGUMENT && !fault_.empty()) throw Error(status, fault_);
    if (status > SF_EMPTY) check(status);
  }

  Members members_;
  std::vector<std::uint64_t> sizes_;  // of the members' ranges when the plan was bound
  std::vector<sf_data> data_;         // for the run that begins
  std::string fault_;                 // in the run under way, or the last one
  bool is_running_ = false;
};

}  // namespace steadfold

#endif
