// Bundles of Steadfold for C++17: several reductions in one message. Included by cxx17.hpp, which is the header to
// include.
//
//   sf17::Bundle bundle;
//   auto s = bundle.sum(x), d = bundle.dot(x, y), m = bundle.max(z);
//   auto plan = bundle.bind(comm);
//   plan.run();                       // as many messages as one reduction
//   use(s.value(), d.value(), m.value());
//
// Every member's result has the bits of the call by itself. Members may differ in type, operator, method and layout;
// root and schedule are the bundle's.
#pragma once

#include "steadfold/common_bundle_members.hpp"
#include "steadfold/common_bundle_operations.hpp"
#include "steadfold/cxx17_plan.hpp"

#if __cplusplus >= 201703L

namespace steadfold::cxx17 {

using steadfold::BundleOptions;
using steadfold::BundlePlan;
using steadfold::MemberOptions;
using steadfold::Result;

namespace detail {

using steadfold::detail::Source;

/// Views are kept as they are; containers are asked each time, since they may move their elements.
template <class T, class R>
Source<T> source_of(R&& range) {
  must_last<R>();
  if constexpr (is_view<std::decay_t<R>>)
    return [kept = View<T>(range)] { return kept; };
  else
    return [at = std::addressof(range)] { return View<T>(*at); };
}

}  // namespace detail

/// Reductions that share messages. Adding members is local; all ranks add the same ones in the same order. What each
/// of them is: cxx17_calls.hpp.
///
/// Members refer to the caller's ranges. A container (a vector, an array) must outlive the plans; every run asks it
/// where its elements are, so that it may grow before `bind`, swap or move them between runs. A View is copied: its
/// elements must stay where they are. Temporaries don't compile.
class Bundle : public BundleOperations<Bundle> {
 public:
  /// dots(x, {y0, y1, ...}): the dot product with every y, whose elements stay where they are; x is read once. dotcs
  /// conjugates the others.
  template <class R>
  auto dots(R&& x, const Vectors<detail::element_t<R>>& ys, const MemberOptions& options = {}) {
    return add_dots<SF_DOT>(std::forward<R>(x), ys, options);
  }
  template <class R>
  auto dotcs(R&& x, const Vectors<detail::element_t<R>>& ys, const MemberOptions& options = {}) {
    return add_dots<SF_DOTC>(std::forward<R>(x), ys, options);
  }

  /// All elements of all ranks combined by `op`, built-in or the caller's, in the binary tree over their indices.
  template <class R, class Op>
  auto reduce(R&& x, const Op& op, const MemberOptions& options = {}) {
    using T = detail::element_t<R>;
    return add<steadfold::detail::MemberOfRanges<T, detail::Held<T, std::decay_t<Op>>>>(
        op, detail::source_of<const T>(std::forward<R>(x)), detail::Source<const T>(), options);
  }
  /// Over an array, see Axes: a result for every index that is kept, in C order. The array may go, its elements stay
  /// where they are. `y`: the factors of a dot product.
  template <class T, class Op>
  auto reduce(const Array<T>& x, const Op& op, const Axes& axes, const MemberOptions& options = {}) {
    return add<steadfold::detail::MemberOfArray<T, detail::Held<T, std::decay_t<Op>>>>(op, x, axes.weights, axes,
                                                                                       options);
  }
  template <class T, class Op>
  auto reduce(const Array<T>& x, const Array<T>& y, const Op& op, const Axes& axes, const MemberOptions& options = {}) {
    return add<steadfold::detail::MemberOfArray<T, detail::Held<T, std::decay_t<Op>>>>(op, x, y, axes, options);
  }
  /// MPI's shape, in place: buffer[i] of all ranks combined by `op` in the binary tree over ranks; on the root only, if
  /// the bundle has one. The layout in the options is ignored.
  template <class R, class Op>
  void allreduce(R&& buffer, const Op& op, const MemberOptions& options = {}) {
    using T = detail::element_t<R>;
    static_assert(detail::are_alike<R, R, Op>());
    members_.push_back(std::make_shared<steadfold::detail::MemberOfVectors<T, detail::Held<T, std::decay_t<Op>>>>(
        op, detail::source_of<T>(std::forward<R>(buffer)), options));
  }

  /// Agrees with all ranks of `comm` on the members added so far. More may be added afterwards, for other plans. Plans
  /// of one bundle share the results.
  template <class C, class = detail::if_group<C>>
  BundlePlan bind(const C& comm, const BundleOptions& options = {}) const {
    return {members_, group_of(comm), options};
  }

 private:
  friend struct steadfold::detail::PlanAccess;
  friend class BundleOperations<Bundle>;
  template <sf_operation id, class R, class... S>
  using IfTaken = void;
  template <class A>
  using IfArray = std::enable_if_t<std::is_same_v<A, Array<typename A::value_type>>>;

  template <class Member, class... From>
  Result<typename Member::Value> add(From&&... from) {
    auto member = std::make_shared<Member>(std::forward<From>(from)...);
    members_.push_back(member);
    return {member, &member->result()};
  }
  template <sf_operation id, class R>
  auto add_built_in(R&& x, const MemberOptions& options) {
    return reduce(std::forward<R>(x), BuiltIn<id>{}, options);
  }
  template <sf_operation id, class R, class S>
  auto add_built_in(R&& x, S&& y, const MemberOptions& options) {
    using T = detail::element_t<R>;
    using Y = detail::element_t<S>;
    static_assert(detail::second_of(id) == detail::Second::mask ? sizeof(Y) == 1 : std::is_same_v<T, Y>,
                  "factors have elements of one type, a mask has one byte per element: convert one of the vectors");
    return add<steadfold::detail::MemberOfRanges<T, detail::Held<T, BuiltIn<id>>, Y>>(
        BuiltIn<id>{}, detail::source_of<const T>(std::forward<R>(x)), detail::source_of<const Y>(std::forward<S>(y)),
        options);
  }
  template <sf_operation id, class T, class Factors>
  auto add_built_in_array(const Array<T>& x, const Factors& y, const Axes& axes, const MemberOptions& options) {
    return add<steadfold::detail::MemberOfArray<T, detail::Held<T, BuiltIn<id>>>>(BuiltIn<id>{}, x, y, axes, options);
  }
  template <sf_operation id, class R>
  auto add_dots(R&& x, const Vectors<detail::element_t<R>>& ys, const MemberOptions& options) {
    using T = detail::element_t<R>;
    return add<steadfold::detail::MemberOfDots<T, detail::Held<T, BuiltIn<id>>>>(
        detail::source_of<const T>(std::forward<R>(x)), ys, options);
  }

  BundlePlan::Members members_;
};

}  // namespace steadfold::cxx17

#endif
