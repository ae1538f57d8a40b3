// Steadfold over groups of ranks: several reductions in one message. For MPI's communicators include mpi.hpp.
//
//   sf::Bundle bundle;
//   auto s = bundle.sum(x), d = bundle.dot(x, y), m = bundle.max(z);
//   auto plan = bundle.bind(comm);
//   plan.run();                       // as many messages as one reduction
//   use(s.value(), d.value(), m.value());
//
// Every member's result has the bits of the call by itself. Members may differ in type, operator, method and layout;
// root and schedule are the bundle's.
#pragma once

#include "steadfold/bundle_operations.hpp"

#if __cplusplus >= 201703L

namespace steadfold {

/// Reductions that share messages. Adding members is local; all ranks add the same ones in the same order.
///
/// Members refer to the caller's ranges. A container (a vector, an array) must outlive the plans; every run asks it
/// where its elements are, so that it may grow before `bind`, swap or move them between runs. A View, a span, or a
/// range like it, is copied: its elements must stay where they are. Temporaries that own their elements don't compile.
class Bundle : public BundleOperations {
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
  template <class R, class Op, class = detail::if_no_array<R>>
  auto reduce(R&& x, const Op& op, const MemberOptions& options = {}) {
    return add_range(std::forward<R>(x), op, options);
  }
  /// Over an array, see Axes: a result for every index that is kept, in C order. The array may go, its elements stay
  /// where they are. `y`: the factors of a dot product.
  template <class T, class Op>
  auto reduce(const Array<T>& x, const Op& op, const Axes& axes, const MemberOptions& options = {}) {
    return add_array(x, axes.weights, op, axes, options);
  }
  template <class T, class Op>
  auto reduce(const Array<T>& x, const Array<T>& y, const Op& op, const Axes& axes, const MemberOptions& options = {}) {
    return add_array(x, y, op, axes, options);
  }
  /// MPI's shape, in place: buffer[i] of all ranks combined by `op` in the binary tree over ranks; on the root only, if
  /// the bundle has one. The layout in the options is ignored.
  template <class R, class Op>
  void allreduce(R&& buffer, const Op& op, const MemberOptions& options = {}) {
    const auto& combine = detail::operator_for<R>(op);
    if constexpr (detail::is_writable<Op, R>())
      members_.push_back(
          std::make_shared<detail::MemberOfVectors<detail::element_t<R>, std::decay_t<decltype(combine)>>>(
              combine, detail::source_of<detail::element_t<R>>(std::forward<R>(buffer)), options));
  }

  /// Agrees with all ranks of `comm` on the members added so far. More may be added afterwards, for other plans. Plans
  /// of one bundle share the results.
  template <class C, class = detail::if_group<C>>
  BundlePlan bind(const C& comm, const BundleOptions& options = {}) const {
    return {members_, steadfold::group_of(comm), options};
  }
};

}  // namespace steadfold

#endif
