// Steadfold for C++20 over MPI: several reductions in one message.
//
//   sf::Bundle bundle;
//   auto s = bundle.sum(x), d = bundle.dot(x, y), m = bundle.max(z);
//   auto plan = bundle.bind(comm);
//   plan.run();                       // as many messages as one reduction
//   use(s.value(), d.value(), m.value());
//
// Every member's result is that of the call by itself, to the bit. Members may differ in type, operator, method and
// layout; root and schedule are the bundle's. Header-only over the C functions of steadfold_mpi.h.
#pragma once

#include "steadfold/mpi.hpp"

namespace steadfold {

/// How one member is to be reduced; the same on all ranks but for the layout's content.
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

/// One reduction of a bundle: its operator, where its elements are, and what they came to.
class BundleMember {
 public:
  virtual ~BundleMember() = default;
  virtual sf_call call() = 0;
  virtual sf_data data() = 0;
  virtual std::shared_ptr<OperatorHolder> holder() = 0;

  /// How the last run ended for it; nothing before the first.
  std::optional<sf_status> status;
};

template <class T, class Op>
class HeldMember final : public BundleMember {
 public:
  using Result = result_t<T, Op>;

  HeldMember(const Op& op, const T* first, const void* second, std::uint64_t rows, const MemberOptions& options)
      : held_(std::make_shared<HeldOperator<T, Op>>(op)), first_(first), second_(second), rows_(rows) {
    options_ = {
        .method = options.method, .layout = options.layout, .require = options.require, .threads = options.threads};
  }

  sf_call call() override { return call_of(*held_, rows_, options_); }
  sf_data data() override { return {first_, second_, &result_}; }
  std::shared_ptr<OperatorHolder> holder() override { return held_; }
  const Result& result() const { return result_; }

 private:
  std::shared_ptr<HeldOperator<T, Op>> held_;
  Options options_;
  const T* first_;
  const void* second_;
  std::uint64_t rows_;
  Result result_ = no_result<Result>();
};

/// MPI's shape, in place.
template <class T, class Op>
class HeldVector final : public BundleMember {
 public:
  HeldVector(const Op& op, std::span<T> buffer, const MemberOptions& options)
      : held_(std::make_shared<HeldOperator<T, Op>>(op)), buffer_(buffer) {
    options_ = {.method = options.method, .require = options.require, .threads = options.threads};
  }

  sf_call call() override { return call_of_vectors(*held_, buffer_.size(), options_); }
  sf_data data() override { return {buffer_.data(), nullptr, buffer_.data()}; }
  std::shared_ptr<OperatorHolder> holder() override { return held_; }

 private:
  std::shared_ptr<HeldOperator<T, Op>> held_;
  Options options_;
  std::span<T> buffer_;
};

}  // namespace detail

/// What a member of a bundle came to in the last run of a plan bound to it. Copies are the same result.
template <class T>
class Result {
 public:
  /// Throws Error where the member had nothing to reduce, or before the first run. On ranks that get no result a NaN
  /// (integers: 0).
  const T& value() const {
    if (!member_->status)
      throw Error(SF_INVALID_ARGUMENT, "no value yet (no plan of the bundle has run), run one first");
    if (*member_->status == SF_EMPTY)
      throw Error(SF_EMPTY, "nothing to reduce (no rank brought an element to this member), check the count first");
    if (*member_->status != SF_OK)
      throw Error(*member_->status, "no value (the bundle's last run failed), see what it threw");
    return *value_;
  }

 private:
  friend class Bundle;
  Result(std::shared_ptr<const detail::BundleMember> member, const T* value)
      : member_(std::move(member)), value_(value) {}

  std::shared_ptr<const detail::BundleMember> member_;
  const T* value_;  // within the member
};

/// A bundle agreed on once and run often. Move-only; one thread at a time; of no use after MPI_Finalize.
/// Collective.
class BundlePlan : public detail::BoundPlan {
 public:
  /// Reduces what the members' memory holds now. Where a member had nothing to reduce its `value` throws, not this.
  void run() {
    const std::vector<sf_data> data = all_data();
    conclude(sf_bundle_run(get(), data.data(), data.size()));
  }

  /// In two phases; the members' memory stays the plan's until it is done.
  void start() {
    const std::vector<sf_data> data = all_data();
    check(sf_bundle_start(get(), data.data(), data.size()));
  }
  bool test() {
    sf_status status = SF_OK;
    const bool is_done = done(status);
    if (is_done || status != SF_OK) conclude(status);
    return is_done;
  }
  void wait() { conclude(sf_plan_wait(get())); }

 private:
  friend class Bundle;
  using Members = std::vector<std::shared_ptr<detail::BundleMember>>;

  BundlePlan(Members members, MPI_Comm comm, const BundleOptions& options) : members_(std::move(members)) {
    std::vector<sf_call> calls;
    for (const auto& member : members_) {
      calls.push_back(member->call());
      calls.back().root = options.root.value_or(SF_ALL_RANKS);
      calls.back().schedule = options.schedule.empty() ? nullptr : options.schedule.c_str();
      own(member->holder());
    }
    sf_plan* plan = nullptr;
    check(sf_bundle_bind(calls.data(), calls.size(), comm, &plan));
    own(plan);
  }

  std::vector<sf_data> all_data() const {
    std::vector<sf_data> data;
    data.reserve(members_.size());
    for (const auto& member : members_) data.push_back(member->data());
    return data;
  }
  void conclude(sf_status status) {
    for (std::size_t i = 0; i < members_.size(); ++i)
      members_[i]->status = status <= SF_EMPTY ? sf_bundle_status(get(), i) : status;
    if (status > SF_EMPTY) check(status);
  }

  Members members_;
};

/// Reductions that travel together. Members refer to the caller's memory, which must stay where it is, of the same
/// size, as long as a plan of the bundle is run; what it holds may change. Adding members is local; all ranks add the
/// same ones in the same order.
class Bundle {
 public:
  /// The sum of all elements of all ranks.
  template <Vector R>
    requires Element<detail::element_t<R>>
  Result<detail::value_of_t<R, SF_SUM>> sum(const R& x, const MemberOptions& options = {}) {
    return reduce(x, plus, options);
  }
  /// The sum of x[i] * y[i], correctly rounded.
  template <Vector R, Vector S>
    requires Rounded<detail::element_t<R>> && std::same_as<detail::element_t<R>, detail::element_t<S>>
  Result<detail::value_of_t<R, SF_DOT>> dot(const R& x, const S& y, const MemberOptions& options = {}) {
    // Different sizes fail in the run, on all ranks: no rank must wait for one that threw.
    const bool same_size = std::ranges::size(x) == std::ranges::size(y);
    return add(BuiltIn<SF_DOT>{}, std::ranges::data(x), same_size ? std::ranges::data(y) : nullptr,
               std::max(std::ranges::size(x), std::ranges::size(y)), options);
  }
  /// The sum of w[i] * x[i], correctly rounded: the dot product by another name.
  template <Vector R, Vector S>
    requires Rounded<detail::element_t<R>> && std::same_as<detail::element_t<R>, detail::element_t<S>>
  Result<detail::value_of_t<R, SF_DOT>> weighted_sum(const R& x, const S& w, const MemberOptions& options = {}) {
    return dot(x, w, options);
  }
  /// The sum of absolute values, that of squares, and that of the elements whose mask is not 0, correctly rounded.
  template <Vector R>
    requires(Rounded<detail::element_t<R>> && !Complex<detail::element_t<R>>)
  Result<detail::value_of_t<R, SF_ABS_SUM>> abs_sum(const R& x, const MemberOptions& options = {}) {
    return reduce(x, BuiltIn<SF_ABS_SUM>{}, options);
  }
  template <Vector R>
    requires Rounded<detail::element_t<R>>
  Result<detail::value_of_t<R, SF_SUM_SQUARES>> sum_squares(const R& x, const MemberOptions& options = {}) {
    return reduce(x, BuiltIn<SF_SUM_SQUARES>{}, options);
  }
  template <Vector R, Mask M>
    requires(Number<detail::element_t<R>> || Rounded<detail::element_t<R>>)
  Result<detail::value_of_t<R, SF_MASKED_SUM>> masked_sum(const R& x, const M& mask,
                                                          const MemberOptions& options = {}) {
    const bool same_size = std::ranges::size(x) == std::ranges::size(mask);
    return add(BuiltIn<SF_MASKED_SUM>{}, std::ranges::data(x), same_size ? std::ranges::data(mask) : nullptr,
               std::max(std::ranges::size(x), std::ranges::size(mask)), options);
  }
  /// The Euclidean norm, correctly rounded.
  template <Vector R>
    requires Rounded<detail::element_t<R>>
  Result<detail::value_of_t<R, SF_NORM2>> norm2(const R& x, const MemberOptions& options = {}) {
    return reduce(x, BuiltIn<SF_NORM2>{}, options);
  }
  /// The sum divided by the number of elements, rounded once.
  template <Vector R>
    requires Rounded<detail::element_t<R>>
  Result<detail::value_of_t<R, SF_MEAN>> mean(const R& x, const MemberOptions& options = {}) {
    return reduce(x, BuiltIn<SF_MEAN>{}, options);
  }
  /// The least element, the greatest, and where they are.
  template <Vector R>
    requires(Element<detail::element_t<R>> && !Complex<detail::element_t<R>>)
  Result<detail::value_of_t<R, SF_MIN>> min(const R& x, const MemberOptions& options = {}) {
    return reduce(x, minimum, options);
  }
  template <Vector R>
    requires(Element<detail::element_t<R>> && !Complex<detail::element_t<R>>)
  Result<detail::value_of_t<R, SF_MAX>> max(const R& x, const MemberOptions& options = {}) {
    return reduce(x, maximum, options);
  }
  template <Vector R>
    requires Number<detail::element_t<R>>
  Result<Located<detail::element_t<R>>> min_location(const R& x, const MemberOptions& options = {}) {
    return reduce(x, minimum_location, options);
  }
  template <Vector R>
    requires Number<detail::element_t<R>>
  Result<Located<detail::element_t<R>>> max_location(const R& x, const MemberOptions& options = {}) {
    return reduce(x, maximum_location, options);
  }
  /// All elements of all ranks combined by `op` in the binary tree over their indices.
  template <Vector R, class Op>
  Result<detail::result_t<detail::element_t<R>, Op>> reduce(const R& x, const Op& op,
                                                            const MemberOptions& options = {}) {
    return add(op, std::ranges::data(x), static_cast<const detail::element_t<R>*>(nullptr), std::ranges::size(x),
               options);
  }
  /// MPI's shape, in place: buffer[i] of all ranks combined by `op` in the binary tree over ranks. On the root only,
  /// where the bundle has one. The layout of the options does not count.
  template <class T, class Op>
  void allreduce(std::span<T> buffer, const Op& op, const MemberOptions& options = {}) {
    static_assert(std::same_as<detail::result_t<T, Op>, T>, "the results do not fit in the place of the elements");
    members_.push_back(std::make_shared<detail::HeldVector<T, std::decay_t<Op>>>(op, buffer, options));
  }

  /// Agrees with all ranks of `comm` on the members so far. More may be added afterwards, for other plans. Plans of one
  /// bundle share the results.
  BundlePlan bind(MPI_Comm comm, const BundleOptions& options = {}) const { return {members_, comm, options}; }

 private:
  template <class T, class Op>
  Result<detail::result_t<T, Op>> add(const Op& op, const T* first, const void* second, std::uint64_t rows,
                                      const MemberOptions& options) {
    auto member = std::make_shared<detail::HeldMember<T, std::decay_t<Op>>>(op, first, second, rows, options);
    members_.push_back(member);
    return {member, &member->result()};
  }

  BundlePlan::Members members_;
};

}  // namespace steadfold
