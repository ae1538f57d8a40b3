// Steadfold for C++20 over groups of ranks: several reductions in one message. For MPI's communicators include mpi.hpp.
//
//   sf::Bundle bundle;
//   auto s = bundle.sum(x), d = bundle.dot(x, y), m = bundle.max(z);
//   auto plan = bundle.bind(comm);
//   plan.run();                       // as many messages as one reduction
//   use(s.value(), d.value(), m.value());
//
// Every member's result has the bits of the call by itself. Members may differ in type, operator, method and layout;
// root and schedule are the bundle's. Header-only over the C functions of steadfold_group.h.
#pragma once

#include "steadfold/group.hpp"

#if __cplusplus >= 202002L

#include "steadfold/common_bundle_members.hpp"
#include "steadfold/common_bundle_operations.hpp"

namespace steadfold {

/// A range that has a name, or whose elements outlive it, such as a span: what a bundle may refer to.
template <class R>
concept Lasting = Vector<R> && std::ranges::borrowed_range<R>;
/// A temporary whose elements end with it.
template <class R>
concept Fleeting = Vector<R> && !Lasting<R>;

namespace detail {

/// Spans are kept as they are; containers are asked each time, since they may move their elements.
template <class T, class R>
Source<T> source_of(R&& range) {
  if constexpr (std::ranges::enable_borrowed_range<std::remove_cvref_t<R>>)
    return [kept = View<T>(range)] { return kept; };
  else
    return [at = std::addressof(range)] { return View<T>(*at); };
}

}  // namespace detail

/// Reductions that share messages. Adding members is local; all ranks add the same ones in the same order.
///
/// Members refer to the caller's ranges. A container (a vector, an array) must outlive the plans; every run asks it
/// where its elements are, so that it may grow before `bind`, swap or move them between runs. A span, or a range like
/// it, is copied: its elements must stay where they are. Temporaries that own their elements don't compile.
class Bundle : public BundleOperations<Bundle> {
 public:
  /// dots(x, {y0, y1, ...}): the dot product with every y, whose elements stay where they are; x is read once. dotcs
  /// conjugates the others.
  template <Lasting R>
    requires Rounded<detail::element_t<R>>
  Result<std::vector<detail::value_of_t<R, SF_DOT>>> dots(R&& x, const Vectors<detail::element_t<R>>& ys,
                                                          const MemberOptions& options = {}) {
    return add_dots<SF_DOT>(x, ys, options);
  }
  template <Lasting R>
    requires Rounded<detail::element_t<R>>
  Result<std::vector<detail::value_of_t<R, SF_DOTC>>> dotcs(R&& x, const Vectors<detail::element_t<R>>& ys,
                                                            const MemberOptions& options = {}) {
    return add_dots<SF_DOTC>(x, ys, options);
  }
  /// All elements of all ranks combined by `op` in the binary tree over their indices.
  template <Lasting R, class Op>
  Result<detail::result_t<detail::element_t<R>, Op>> reduce(R&& x, const Op& op, const MemberOptions& options = {}) {
    return add<detail::element_t<R>, detail::element_t<R>>(op, x, {}, options);
  }
  /// Over an array, see Axes: a result for every index that is kept, in C order. The array may go, its elements stay
  /// where they are. `y`: the factors of a dot product.
  template <class T, class Op>
  Result<std::vector<detail::result_t<T, Op>>> reduce(const Array<T>& x, const Op& op, const Axes& axes,
                                                      const MemberOptions& options = {}) {
    return add_array(op, x, axes.weights, axes, options);
  }
  template <class T, class Op>
  Result<std::vector<detail::result_t<T, Op>>> reduce(const Array<T>& x, const Array<T>& y, const Op& op,
                                                      const Axes& axes, const MemberOptions& options = {}) {
    return add_array(op, x, y, axes, options);
  }
  /// MPI's shape, in place: buffer[i] of all ranks combined by `op` in the binary tree over ranks; on the root only, if
  /// the bundle has one. The layout in the options is ignored.
  template <Lasting R, class Op>
  void allreduce(R&& buffer, const Op& op, const MemberOptions& options = {}) {
    using T = std::remove_reference_t<std::ranges::range_reference_t<R>>;
    static_assert(!std::is_const_v<T>, "results are written to the buffer: its elements must not be const");
    static_assert(std::same_as<detail::result_t<T, Op>, T>, "the results do not fit in the place of the elements");
    members_.push_back(std::make_shared<detail::MemberOfVectors<T, detail::HeldOperator<T, std::decay_t<Op>>>>(
        op, detail::source_of<T>(buffer), options));
  }

  // A temporary ends before a plan runs: give it a name that outlives the plans.
  template <Fleeting R>
  void dots(R&&, const Vectors<detail::element_t<R>>&, const MemberOptions& = {}) = delete;
  template <Fleeting R>
  void dotcs(R&&, const Vectors<detail::element_t<R>>&, const MemberOptions& = {}) = delete;
  template <Fleeting R, class Op>
  void reduce(R&&, const Op&, const MemberOptions& = {}) = delete;
  template <Fleeting R, class Op>
  void allreduce(R&&, const Op&, const MemberOptions& = {}) = delete;

  /// Agrees with all ranks of `comm` on the members added so far. More may be added afterwards, for other plans. Plans
  /// of one bundle share the results.
  template <Communicator C>
  BundlePlan bind(const C& comm, const BundleOptions& options = {}) const {
    return {members_, group_of(comm), options};
  }

 private:
  friend struct detail::PlanAccess;
  friend class BundleOperations<Bundle>;

  template <sf_operation id, class R, class... S>
  static constexpr bool is_taken() {
    if constexpr ((Lasting<R> && ... && Lasting<S>)) {
      constexpr bool are_factors = (std::same_as<detail::element_t<R>, detail::element_t<S>> && ...);
      constexpr bool is_mask = (Mask<S> && ...);
      return detail::serves<detail::element_t<R>>(id) &&
             (detail::second_of(id) == detail::Second::mask ? is_mask : are_factors);
    } else {
      return false;
    }
  }
  template <sf_operation id, class R, class... S>
  using IfTaken = std::enable_if_t<is_taken<id, R, S...>()>;
  template <class A>
  using IfArray = std::enable_if_t<std::same_as<A, Array<typename A::value_type>>>;

  template <sf_operation id, class R>
  auto add_built_in(R&& x, const MemberOptions& options) {
    return reduce(x, BuiltIn<id>{}, options);
  }
  template <sf_operation id, class R, class S>
  auto add_built_in(R&& x, S&& y, const MemberOptions& options) {
    using Second = detail::element_t<S>;
    return add<detail::element_t<R>, Second>(BuiltIn<id>{}, x, detail::source_of<const Second>(y), options);
  }
  template <sf_operation id, class T>
  auto add_built_in_array(const Array<T>& x, const MaybeArray& y, const Axes& axes, const MemberOptions& options) {
    return add_array(BuiltIn<id>{}, x, y, axes, options);
  }

  template <class T, class Second, class R, class Op>
  Result<detail::result_t<T, Op>> add(const Op& op, R&& x, detail::Source<const Second> second,
                                      const MemberOptions& options) {
    auto member = std::make_shared<detail::MemberOfRanges<T, detail::HeldOperator<T, std::decay_t<Op>>, Second>>(
        op, detail::source_of<const T>(x), std::move(second), options);
    members_.push_back(member);
    return {member, &member->result()};
  }

  template <class T, class Op>
  Result<std::vector<detail::result_t<T, Op>>> add_array(const Op& op, const Array<T>& x, const MaybeArray& factors,
                                                         const Axes& axes, const MemberOptions& options) {
    auto member = std::make_shared<detail::MemberOfArray<T, detail::HeldOperator<T, std::decay_t<Op>>>>(op, x, factors,
                                                                                                        axes, options);
    members_.push_back(member);
    return {member, &member->result()};
  }

  template <sf_operation id, class R>
  auto add_dots(R&& x, const Vectors<detail::element_t<R>>& ys, const MemberOptions& options) {
    using T = detail::element_t<R>;
    using Member = detail::MemberOfDots<T, detail::HeldOperator<T, BuiltIn<id>>>;
    auto member = std::make_shared<Member>(detail::source_of<const T>(x), ys, options);
    members_.push_back(member);
    return Result<typename Member::Value>(member, &member->result());
  }

  BundlePlan::Members members_;
};

}  // namespace steadfold

#endif
