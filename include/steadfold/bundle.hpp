// Bundles: several reductions over a group of ranks in one message. For MPI communicators include mpi.hpp, too.
//
//   sf::Bundle bundle;
//   auto s = bundle.sum(x), d = bundle.dot(x, y), m = bundle.max(z);
//   auto plan = bundle.bind(comm);
//   plan.run();                       // as many messages as one reduction
//   use(s.value(), d.value(), m.value());
//
// The result of every member has the same bits as a separate call. Members may differ in type, operator, method and
// layout. Root and schedule belong to the bundle.
#pragma once

#include "steadfold/bundle_operations.hpp"

#if __cplusplus >= 201703L

namespace steadfold {

/// Reductions that share messages. Adding a member is local; all ranks must add the same members in the same order.
///
/// Members refer to the caller's ranges. A container (a vector, an array) must outlive the plans. Every run asks the
/// container for the address of its elements, so that the container may grow before `bind`, and may swap or move its
/// elements between runs. A View, a std::span or a similar range is copied: its elements must stay at their addresses.
/// Temporaries that own their elements do not compile.
class Bundle : public BundleOperations {
 public:
  /// Adds the dot product of x with every y: dots(x, {y0, y1, ...}). The elements of the ys must stay at their
  /// addresses; x is read once. `dotcs` conjugates the ys.
  template <class R>
  auto dots(R&& x, const Vectors<detail::element_t<R>>& ys, const MemberOptions& options = {}) {
    return add_dots<SF_DOT>(std::forward<R>(x), ys, options);
  }
  template <class R>
  auto dotcs(R&& x, const Vectors<detail::element_t<R>>& ys, const MemberOptions& options = {}) {
    return add_dots<SF_DOTC>(std::forward<R>(x), ys, options);
  }
  /// Adds the reduction of all elements of all ranks by `op`, a built-in operator or the caller's, in the binary tree
  /// over their indices.
  template <class R, class Op, class = detail::if_no_array<R>>
  auto reduce(R&& x, const Op& op, const MemberOptions& options = {}) {
    return add_range(std::forward<R>(x), op, options);
  }
  /// Adds a reduction of an array, see Axes: one result for every index of the kept axes, in C order. The Array object
  /// may be destroyed; its elements must stay at their addresses. `y`: the second factors of a dot product.
  template <class T, class Op>
  auto reduce(const Array<T>& x, const Op& op, const Axes& axes, const MemberOptions& options = {}) {
    return add_array(x, axes.weights, op, axes, options);
  }
  template <class T, class Op>
  auto reduce(const Array<T>& x, const Array<T>& y, const Op& op, const Axes& axes, const MemberOptions& options = {}) {
    return add_array(x, y, op, axes, options);
  }
  /// Adds an allreduce in MPI's shape, in place: buffer[i] receives the buffer[i] of all ranks, combined by `op` in the
  /// binary tree over ranks. If the bundle has a root, only the root's buffer is written. The layout in the options is
  /// ignored.
  template <class R, class Op>
  void allreduce(R&& buffer, const Op& op, const MemberOptions& options = {}) {
    const auto& combine = detail::operator_for<R>(op);
    if constexpr (detail::is_writable<Op, R>())
      members_.push_back(
          std::make_shared<detail::MemberOfVectors<detail::element_t<R>, std::decay_t<decltype(combine)>>>(
              combine, detail::source_of<detail::element_t<R>>(std::forward<R>(buffer)), options));
  }

  /// Makes a plan: agrees with all ranks of `comm` on the members added so far. Members that are added later belong
  /// only to later plans. The plans of one bundle share the results.
  template <class C, class = detail::if_group<C>>
  BundlePlan bind(const C& comm, const BundleOptions& options = {}) const {
    return {members_, steadfold::group_of(comm), options};
  }
};

}  // namespace steadfold

#endif
