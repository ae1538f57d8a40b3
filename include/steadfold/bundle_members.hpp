// The members of bundles, the plans of bundles, and their results. Included by bundle.hpp, which is the header to
// include.
#pragma once

#include "steadfold/group.hpp"

#if __cplusplus >= 201703L

namespace steadfold {

namespace detail {

/// One reduction of a bundle: its operator, the address of its elements, and its result.
class BundleMember {
 public:
  virtual ~BundleMember() = default;
  virtual sf_call call() = 0;
  /// Returns the number of elements that the caller's range has now.
  virtual std::uint64_t size() const = 0;
  /// Says why a run cannot use the caller's ranges; empty if it can.
  virtual std::string fault() const { return {}; }
  virtual sf_data data() = 0;
  virtual std::shared_ptr<OperatorHolder> holder() = 0;

  enum class Phase { idle, running, ended };
  Phase phase = Phase::idle;
  sf_status status = SF_OK;  // the status of the last run that ended
};

}  // namespace detail

/// The result of a member in the last run of a plan. Copies refer to the same result.
template <class T>
class Result {
 public:
  /// Makes a result; only bundles call this constructor.
  Result(std::shared_ptr<const detail::BundleMember> member, const T* value)
      : member_(std::move(member)), value_(value) {}

  /// Returns the result. On ranks that get no result it is a NaN (integers: 0). Throws Error if the member had nothing
  /// to reduce, before the first run, and between `start` and the end of the run.
  const T& value() const {
    using Phase = detail::BundleMember::Phase;
    if (member_->phase == Phase::idle)
      throw Error(SF_INVALID_ARGUMENT, "no value yet (no plan of the bundle has run), run a plan first");
    if (member_->phase == Phase::running)
      throw Error(SF_INVALID_ARGUMENT, "no value (a run was started and has not ended), call wait or test first");
    if (member_->status == SF_EMPTY)
      throw Error(SF_EMPTY,
                  "nothing to reduce (no rank brought an element to this member), check the number of elements first");
    if (member_->status != SF_OK)
      throw Error(member_->status, "no value (the bundle's last run failed), see the exception that the run threw");
    return *value_;
  }

 private:
  std::shared_ptr<const detail::BundleMember> member_;
  const T* value_;  // points into the member that the result keeps alive
};

/// The plan of a bundle. A run allocates nothing. Movable, not copyable. Only one thread at a time may use the object.
/// The plan cannot be used after MPI_Finalize. Collective.
class BundlePlan : public detail::BoundPlan {
 public:
  /// The members of a bundle.
  using Members = std::vector<std::shared_ptr<detail::BundleMember>>;

  /// Makes the plan; only bundles call this constructor.
  BundlePlan(const Members& members, Group group, const BundleOptions& options) {
    const std::vector<sf_call> calls = detail::told(group, [&] {
      members_ = members;
      return take_calls(options);
    });
    sf_plan* plan = nullptr;
    check(sf_group_bind(calls.data(), calls.size(), group.handle(), &plan));
    own(plan);
  }

  /// Runs the plan: reduces the current elements of the members' ranges. If a range has another size than at `bind`, on
  /// any rank, the run fails on all ranks. If a member had nothing to reduce, its `value` throws, but not this call.
  void run() {
    std::string fault = look();
    const sf_status status = sf_bundle_run(get(), data_.data(), data_.size());
    if (is_running_) return check(status);  // if a run is under way, this run was refused, and the other continues
    fault_ = std::move(fault);
    is_running_ = true;
    conclude(status);
  }

  /// Starts a run, which `test`, `wait` or `wait_for` ends. The plan uses the members' memory, which must stay at its
  /// address, until the run has ended. Until then there are no values.
  void start() {
    std::string fault = look();
    check(sf_bundle_start(get(), data_.data(), data_.size()));
    fault_ = std::move(fault);
    is_running_ = true;
    for (const auto& member : members_) member->phase = detail::BundleMember::Phase::running;
  }
  /// Return whether the run has ended: `test` checks once, `wait` blocks until the end. Throw the errors of the run.
  bool test() { return wait_for(std::chrono::nanoseconds(0)); }
  void wait() { conclude(sf_plan_wait(get())); }
  /// Waits at most the given time and returns whether the run has ended. If the run has not ended, it continues: call
  /// this function, `test` or `wait` again.
  template <class Count, class Period>
  bool wait_for(std::chrono::duration<Count, Period> timeout) {
    sf_status status = SF_OK;
    const bool is_done = done_within(timeout, status);
    is_done ? conclude(status) : check(status);
    return is_done;
  }

 private:
  friend struct detail::PlanAccess;
  explicit BundlePlan(Members members) : members_(std::move(members)) {}

  /// Makes the calls of the members so far. The calls are valid during a bind.
  std::vector<sf_call> take_calls(const BundleOptions& options) {
    std::vector<sf_call> calls;
    for (const auto& member : members_) {
      calls.push_back(member->call());
      options.describe(calls.back());
      sizes_.push_back(member->size());
      own(member->holder());
    }
    data_.reserve(members_.size());
    return calls;
  }

  /// Finds the addresses of the members' elements. If the ranges cannot be used, returns the reason. In this case there
  /// are no elements, and the library reports the error to all ranks, so that no rank waits for this rank.
  std::string look() {
    data_.clear();
    for (std::size_t i = 0; i < members_.size(); ++i) {
      std::string fault = members_[i]->fault();
      if (members_[i]->size() != sizes_[i])
        fault = std::to_string(members_[i]->size()) + " elements (the plan was bound for " + std::to_string(sizes_[i]) +
                " on this rank), keep this number of elements or bind another plan";
      if (!fault.empty()) {
        data_.clear();
        return (members_.size() == 1 ? "" : "call " + std::to_string(i) + ": ") + fault;
      }
      data_.push_back(members_[i]->data());
    }
    return {};
  }
  /// Records how the last run ended, and informs the members if it was still under way.
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
  std::vector<std::uint64_t> sizes_;  // the sizes of the members' ranges when the plan was bound
  std::vector<sf_data> data_;         // the data of the next run
  std::string fault_;                 // the error of the run under way, or of the last run; empty if there is none
  bool is_running_ = false;
};

namespace detail {

/// Finds the address of a range's elements.
template <class T>
using Source = std::function<View<T>()>;

/// Makes a member for vectors. `second`, if given, has the second factors of a dot product, or a mask.
template <class T, class Op, class SecondElement = T>
class MemberOfRanges final : public BundleMember {
 public:
  using Value = result_t<T, Op>;

  MemberOfRanges(const Op& op, Source<const T> first, Source<const SecondElement> second, const MemberOptions& options)
      : held_(std::make_shared<HeldOperator<T, Op>>(op)),
        options_(options),
        first_(std::move(first)),
        second_(std::move(second)) {}

  sf_call call() override { return detail::call_of(*held_, size(), options_); }
  std::uint64_t size() const override { return first_().size(); }
  std::string fault() const override {
    if (!second_ || second_().size() == size()) return {};
    return "a second range of " + std::to_string(second_().size()) + " elements (the first has " +
           std::to_string(size()) + "), give two ranges of the same size";
  }
  sf_data data() override {
    return {first_().data(), second_ ? second_().data() : nullptr, &result_, nullptr, nullptr};
  }
  std::shared_ptr<OperatorHolder> holder() override { return held_; }
  const Value& result() const { return result_; }

 private:
  std::shared_ptr<HeldOperator<T, Op>> held_;
  MemberOptions options_;
  Source<const T> first_;
  Source<const SecondElement> second_;
  Value result_ = no_result<Value>();
};

/// A member of dot products of one vector with several others.
template <class T, class Op>
class MemberOfDots final : public BundleMember {
 public:
  using Value = results_t<T, Op>;

  MemberOfDots(Source<const T> x, const Vectors<T>& ys, const MemberOptions& options)
      : options_(options),
        x_(std::move(x)),
        ys_(ys),
        results_(ys.all().size(), no_result<typename Value::value_type>()) {
    for (const auto& y : ys_.all()) list_.push_back(y.data());
  }

  sf_call call() override {
    arrays_ = arrays_of_dots<T>(list_, nullptr, size());
    sf_call call = detail::call_of(*held_, 0, options_);
    call.arrays = &arrays_;
    return call;
  }
  std::uint64_t size() const override { return x_().size(); }
  std::string fault() const override {
    for (const auto& y : ys_.all())
      if (y.size() != size())
        return "a factor of " + std::to_string(y.size()) + " elements (the first has " + std::to_string(size()) +
               "), give vectors of the same size";
    return {};
  }
  sf_data data() override { return {list_.data(), x_().data(), results_.data(), nullptr, nullptr}; }
  std::shared_ptr<OperatorHolder> holder() override { return held_; }
  const Value& result() const { return results_; }

 private:
  std::shared_ptr<HeldOperator<T, Op>> held_ = std::make_shared<HeldOperator<T, Op>>(Op{});
  MemberOptions options_;
  Source<const T> x_;
  Vectors<T> ys_;
  std::vector<const void*> list_;
  sf_arrays arrays_ = arrays_of_nothing();
  Value results_;
};

/// A member of an array, whose elements stay at their addresses.
template <class T, class Op>
class MemberOfArray final : public BundleMember {
 public:
  using Value = results_t<T, Op>;

  MemberOfArray(const Op& op, const Array<T>& x, const MaybeArray& factors, const Axes& axes,
                const MemberOptions& options)
      : options_(options), made_(std::make_shared<CallOfArrays<T, Op>>(x, factors, op, axes, options_)) {}

  sf_call call() override {
    if (!made_->fault().empty()) throw Error(SF_INVALID_ARGUMENT, made_->fault());
    return *made_->call();
  }
  std::uint64_t size() const override { return 0; }  // the size never changes
  sf_data data() override { return {nullptr, nullptr, made_->results(), nullptr, nullptr}; }
  std::shared_ptr<OperatorHolder> holder() override { return {made_, &made_->holder()}; }
  const Value& result() const { return made_->values(); }

 private:
  const MemberOptions options_;  // a member, because the call points to it
  std::shared_ptr<CallOfArrays<T, Op>> made_;
};

/// A member in MPI's shape, in place.
template <class T, class Op>
class MemberOfVectors final : public BundleMember {
 public:
  MemberOfVectors(const Op& op, Source<T> buffer, const MemberOptions& options)
      : held_(std::make_shared<HeldOperator<T, Op>>(op)), options_(options), buffer_(std::move(buffer)) {}

  sf_call call() override { return detail::call_of_vectors(*held_, size(), options_); }
  std::uint64_t size() const override { return buffer_().size(); }
  sf_data data() override { return {buffer_().data(), nullptr, buffer_().data(), nullptr, nullptr}; }
  std::shared_ptr<OperatorHolder> holder() override { return held_; }

 private:
  std::shared_ptr<HeldOperator<T, Op>> held_;
  MemberOptions options_;
  Source<T> buffer_;
};

/// Makes the source of a range. Ranges that do not own their elements are copied; containers are asked for the address
/// each time, because they may move their elements. If R cannot be read as elements of type T, a compiler error has
/// been reported.
template <class T, class R>
Source<T> source_of(R&& range) {
  must_last<R>();
  if constexpr (!std::is_convertible_v<R&, View<T>>)
    return {};
  else if constexpr (outlives<bare_t<R>>)
    return [kept = View<T>(range)] { return kept; };
  else
    return [at = std::addressof(range)] { return View<T>(*at); };
}

/// The base of bundles: the members so far, and a function to add each kind of member.
class BundleMembers {
 protected:
  friend struct PlanAccess;

  template <class Member, class... From>
  Result<typename Member::Value> add(From&&... from) {
    auto member = std::make_shared<Member>(std::forward<From>(from)...);
    members_.push_back(member);
    return {member, &member->result()};
  }
  template <class R, class Op>
  auto add_range(R&& x, const Op& op, const MemberOptions& options) {
    operands<Op>(x);  // reports a compiler error if operator and elements do not fit
    const auto& combine = operator_for<R>(op);
    using T = read_t<Op, R>;
    return add<MemberOfRanges<T, std::decay_t<decltype(combine)>>>(combine, source_of<const T>(std::forward<R>(x)),
                                                                   Source<const T>(), options);
  }
  template <class R, class S, class Op>
  auto add_ranges(R&& x, S&& y, const Op& op, const MemberOptions& options) {
    operands<Op>(x, y);
    using T = read_t<Op, R>;
    auto first = source_of<const T>(std::forward<R>(x));
    if constexpr (is_second<Op, bare_t<R>, bare_t<S>>()) {
      using Y = element_t<S>;
      return add<MemberOfRanges<T, Op, Y>>(op, std::move(first), source_of<const Y>(std::forward<S>(y)), options);
    } else {
      return add<MemberOfRanges<T, Op>>(op, std::move(first), Source<const T>(), options);
    }
  }
  template <class T, class Op>
  auto add_array(const Array<T>& x, const MaybeArray& factors, const Op& op, const Axes& axes,
                 const MemberOptions& options) {
    return add<MemberOfArray<T, std::decay_t<Op>>>(op, x, factors, axes, options);
  }
  template <sf_operation id, class R>
  auto add_dots(R&& x, const Vectors<element_t<R>>& ys, const MemberOptions& options) {
    using T = element_t<R>;
    return add<MemberOfDots<T, BuiltIn<id>>>(source_of<const T>(std::forward<R>(x)), ys, options);
  }

  BundlePlan::Members members_;
};

}  // namespace detail

}  // namespace steadfold

#endif
