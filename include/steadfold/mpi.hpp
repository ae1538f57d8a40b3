// Steadfold for C++20 over MPI.
//
// Distributed elements: every rank holds some of N elements, and the bits do not depend on how many ranks there are.
//   double s = sf::sum(x, comm);                                            // correctly rounded
//   double t = sf::sum(x, comm, {.method = sf::tree(), .layout = sf::Layout::contiguous(x.size(), comm)});
//   Matrix m = sf::reduce(matrices, multiply, comm, {.layout = layout});    // any operator, in the fixed tree
//
// MPI's shape: every rank brings one vector, N is the number of ranks. The bits depend on that number, on nothing else.
//   sf::allreduce(std::span{buffer}, sf::plus, comm);                      // reduce_to, scan, exscan, reduce_scatter
//
// All calls are collective: every rank makes them, in the same order. What fails on one rank is an Error on all.
// Header-only over the C functions of steadfold_mpi.h; link the library built for your MPI.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <vector>

#include "steadfold/steadfold.hpp"
#include "steadfold/steadfold_mpi.h"

namespace steadfold {

/// How a call is to be made. All fields but the layout's content and the threads are the same on all ranks.
struct Options {
  Method method = {};
  Layout layout = {};
  std::optional<int> root = std::nullopt;  ///< who gets the result; nothing: everybody
  std::string schedule = {};               ///< a name of `steadfold schedules`; empty: the library's choice
  Guarantees require = {};                 ///< what the bits must not depend on: refused where that cannot be kept
  unsigned threads = 1;                    ///< that go through this rank's own elements: the same bits for any number
};

namespace detail {

/// What Layout::contiguous asks of a communicator.
inline void find_rank_order(std::uint64_t rows, MPI_Comm comm, RankOrder& found) {
  check(sf_rank_order(rows, comm, &found.mine, &found.element_count));
}

/// A call as the C interface takes it; it points into `held` and `options`.
template <class T, class Op>
sf_call call_of(HeldOperator<T, Op>& held, std::uint64_t rows, const Options& options) {
  sf_call call = sf_call_default();
  held.describe(call);
  options.layout.describe(call);
  options.method.describe(call);
  call.root = options.root.value_or(SF_ALL_RANKS);
  call.schedule = options.schedule.empty() ? nullptr : options.schedule.c_str();
  call.rows = rows;
  call.require = options.require.bits;
  call.threads = options.threads;
  return call;
}

/// MPI's shape: one row of `columns` elements a rank.
template <class T, class Op>
sf_call call_of_vectors(HeldOperator<T, Op>& held, std::uint64_t columns, const Options& options) {
  sf_call call = call_of(held, 1, options);
  call.layout = SF_ROW_A_RANK;
  call.columns = columns;
  return call;
}

template <class T, class Op>
result_t<T, Op> reduce_over(std::span<const T> first, const void* second, const Op& op, MPI_Comm comm,
                            const Options& options) {
  HeldOperator<T, std::decay_t<Op>> held(op);
  const sf_call call = call_of(held, first.size(), options);
  auto result = no_result<result_t<T, Op>>();
  check(sf_reduce(&call, first.data(), second, &result, comm), &held);
  return result;
}

/// The same, cut into blocks.
template <class T, class Op>
sf_call call_of_blocks(HeldOperator<T, Op>& held, std::span<const std::uint64_t> blocks, const Options& options) {
  sf_call call = call_of_vectors(held, std::accumulate(blocks.begin(), blocks.end(), std::uint64_t{0}), options);
  call.collective = SF_REDUCE_SCATTER;
  call.blocks = blocks.data();
  call.block_count = blocks.size();
  return call;
}

template <class T, class Op>
void reduce_blocks(std::span<const T> values, std::span<const std::uint64_t> blocks, std::span<T> result, const Op& op,
                   MPI_Comm comm, const Options& options) {
  HeldOperator<T, std::decay_t<Op>> held(op);
  sf_call call = call_of_blocks(held, blocks, options);
  call.columns = values.size();
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  // Another size is for the call itself to report: no rank must wait for one that threw.
  const auto own = static_cast<std::size_t>(rank);
  const bool fits = own < blocks.size() && blocks[own] == result.size();
  check(sf_reduce(&call, values.data(), nullptr, fits ? result.data() : nullptr, comm), &held);
}

template <class T, class Op>
void reduce_vectors(std::span<T> buffer, const Op& op, MPI_Comm comm, const Options& options,
                    sf_collective collective = SF_REDUCE) {
  static_assert(std::same_as<result_t<T, Op>, T>, "the results do not fit in the place of the elements");
  HeldOperator<T, std::decay_t<Op>> held(op);
  sf_call call = call_of_vectors(held, buffer.size(), options);
  call.collective = collective;
  check(sf_reduce(&call, buffer.data(), nullptr, buffer.data(), comm), &held);
}

}  // namespace detail

/// The sum of all elements of all ranks; no elements: +0.0. With a root, other ranks get a NaN (integers: 0).
template <Vector R>
  requires Element<detail::element_t<R>>
detail::value_of_t<R, SF_SUM> sum(const R& x, MPI_Comm comm, const Options& options = {}) {
  using T = detail::element_t<R>;
  return detail::reduce_over(std::span<const T>(x), static_cast<const T*>(nullptr), plus, comm, options);
}

/// The same, wider than the elements: sum<double>(floats, comm).
template <Element Result, Vector R>
Result sum(const R& x, MPI_Comm comm, const Options& options = {}) {
  using T = detail::element_t<R>;
  return detail::reduce_over(std::span<const T>(x), static_cast<const T*>(nullptr), to<Result>(plus), comm, options);
}

/// The sum of x[i] * y[i] over all elements of all ranks, correctly rounded.
template <Vector R, Vector S>
  requires Rounded<detail::element_t<R>> && std::same_as<detail::element_t<R>, detail::element_t<S>>
detail::value_of_t<R, SF_DOT> dot(const R& x, const S& y, MPI_Comm comm, const Options& options = {}) {
  using T = detail::element_t<R>;
  const std::size_t rows = std::max(std::ranges::size(x), std::ranges::size(y));
  // Different sizes are for the call itself to report, which reads neither then: no rank must wait for one that threw.
  const bool same_size = std::ranges::size(x) == std::ranges::size(y);
  return detail::reduce_over(std::span<const T>(std::ranges::data(x), rows), same_size ? std::ranges::data(y) : nullptr,
                             BuiltIn<SF_DOT>{}, comm, options);
}

/// The sum of w[i] * x[i], correctly rounded: the dot product by another name.
template <Vector R, Vector S>
  requires Rounded<detail::element_t<R>> && std::same_as<detail::element_t<R>, detail::element_t<S>>
detail::value_of_t<R, SF_DOT> weighted_sum(const R& x, const S& w, MPI_Comm comm, const Options& options = {}) {
  return dot(x, w, comm, options);
}

/// The sum of the absolute values of all elements of all ranks, correctly rounded.
template <Vector R>
  requires(Rounded<detail::element_t<R>> && !Complex<detail::element_t<R>>)
detail::value_of_t<R, SF_ABS_SUM> abs_sum(const R& x, MPI_Comm comm, const Options& options = {}) {
  using T = detail::element_t<R>;
  return detail::reduce_over(std::span<const T>(x), nullptr, BuiltIn<SF_ABS_SUM>{}, comm, options);
}

/// The sum of their squares, correctly rounded.
template <Vector R>
  requires Rounded<detail::element_t<R>>
detail::value_of_t<R, SF_SUM_SQUARES> sum_squares(const R& x, MPI_Comm comm, const Options& options = {}) {
  using T = detail::element_t<R>;
  return detail::reduce_over(std::span<const T>(x), nullptr, BuiltIn<SF_SUM_SQUARES>{}, comm, options);
}

/// The sum of all elements of all ranks whose mask is not 0, correctly rounded; the others are never looked at.
template <Vector R, Mask M>
  requires(Number<detail::element_t<R>> || Rounded<detail::element_t<R>>)
detail::value_of_t<R, SF_MASKED_SUM> masked_sum(const R& x, const M& mask, MPI_Comm comm, const Options& options = {}) {
  using T = detail::element_t<R>;
  // As for dot.
  const std::size_t rows = std::max(std::ranges::size(x), std::ranges::size(mask));
  const bool same_size = std::ranges::size(x) == std::ranges::size(mask);
  return detail::reduce_over(std::span<const T>(std::ranges::data(x), rows),
                             same_size ? std::ranges::data(mask) : nullptr, BuiltIn<SF_MASKED_SUM>{}, comm, options);
}

/// The Euclidean norm of the whole vector, correctly rounded.
template <Vector R>
  requires Rounded<detail::element_t<R>>
detail::value_of_t<R, SF_NORM2> norm2(const R& x, MPI_Comm comm, const Options& options = {}) {
  using T = detail::element_t<R>;
  return detail::reduce_over(std::span<const T>(x), static_cast<const T*>(nullptr), BuiltIn<SF_NORM2>{}, comm, options);
}

/// The sum of all elements of all ranks divided by their number, rounded once.
template <Vector R>
  requires Rounded<detail::element_t<R>>
detail::value_of_t<R, SF_MEAN> mean(const R& x, MPI_Comm comm, const Options& options = {}) {
  using T = detail::element_t<R>;
  return detail::reduce_over(std::span<const T>(x), static_cast<const T*>(nullptr), BuiltIn<SF_MEAN>{}, comm, options);
}

/// All elements of all ranks combined by `op` in the binary tree over their indices. Without a layout: in rank order.
template <Vector R, class Op>
detail::result_t<detail::element_t<R>, Op> reduce(const R& x, const Op& op, MPI_Comm comm,
                                                  const Options& options = {}) {
  using T = detail::element_t<R>;
  return detail::reduce_over(std::span<const T>(x), static_cast<const T*>(nullptr), op, comm, options);
}

/// The least element of all ranks, and the greatest.
template <Vector R>
  requires(Element<detail::element_t<R>> && !Complex<detail::element_t<R>>)
detail::value_of_t<R, SF_MIN> min(const R& x, MPI_Comm comm, const Options& options = {}) {
  return reduce(x, minimum, comm, options);
}
template <Vector R>
  requires(Element<detail::element_t<R>> && !Complex<detail::element_t<R>>)
detail::value_of_t<R, SF_MAX> max(const R& x, MPI_Comm comm, const Options& options = {}) {
  return reduce(x, maximum, comm, options);
}

/// The same with the lowest index that has it: of the layout, without one counted in rank order.
template <Vector R>
  requires Number<detail::element_t<R>>
Located<detail::element_t<R>> min_location(const R& x, MPI_Comm comm, const Options& options = {}) {
  return reduce(x, minimum_location, comm, options);
}
template <Vector R>
  requires Number<detail::element_t<R>>
Located<detail::element_t<R>> max_location(const R& x, MPI_Comm comm, const Options& options = {}) {
  return reduce(x, maximum_location, comm, options);
}

/// MPI's shape, in place: buffer[i] of all ranks combined by `op` in the binary tree over ranks. The same bits whatever
/// the algorithm, topology and MPI library; not whatever the number of ranks. Options: method and schedule.
template <class T, class Op>
void allreduce(std::span<T> buffer, const Op& op, MPI_Comm comm, const Options& options = {}) {
  detail::reduce_vectors(buffer, op, comm, options);
}

/// The same, for `root` only: the buffers of other ranks stay as they are.
template <class T, class Op>
void reduce_to(int root, std::span<T> buffer, const Op& op, MPI_Comm comm, Options options = {}) {
  options.root = root;
  detail::reduce_vectors(buffer, op, comm, options);
}

/// MPI's shape, in place: buffer[i] of the ranks 0 to this one, combined by `op` in the binary tree over those ranks.
template <class T, class Op>
void scan(std::span<T> buffer, const Op& op, MPI_Comm comm, const Options& options = {}) {
  detail::reduce_vectors(buffer, op, comm, options, SF_SCAN);
}

/// The same of the ranks below this one; the buffer of rank 0 stays as it is.
template <class T, class Op>
void exscan(std::span<T> buffer, const Op& op, MPI_Comm comm, const Options& options = {}) {
  detail::reduce_vectors(buffer, op, comm, options, SF_EXSCAN);
}

/// MPI's shape: of the vectors of all ranks combined by `op` rank r gets the blocks[r] elements behind those of the
/// lower ranks. The bits are those of allreduce. `values` has as many elements as all blocks, `result` those of this
/// rank's; it may be part of `values`.
template <class T, class Op>
void reduce_scatter(std::span<const T> values, std::span<const std::uint64_t> blocks, std::span<T> result, const Op& op,
                    MPI_Comm comm, const Options& options = {}) {
  detail::reduce_blocks(values, blocks, result, op, comm, options);
}

/// The same in blocks of one size.
template <class T, class Op>
void reduce_scatter_block(std::span<const T> values, std::span<T> result, const Op& op, MPI_Comm comm,
                          const Options& options = {}) {
  int ranks = 0;
  MPI_Comm_size(comm, &ranks);
  const std::vector<std::uint64_t> blocks(static_cast<std::size_t>(ranks),
                                          values.size() / static_cast<std::size_t>(ranks));
  detail::reduce_blocks(values, std::span<const std::uint64_t>(blocks), result, op, comm, options);
}

namespace detail {

/// What all plans can do.
class BoundPlan {
 public:
  std::string describe() const { return sf_plan_describe(plan_.get()); }
  std::string schedule() const { return sf_plan_schedule(plan_.get()); }
  /// Of the last run, on this rank.
  sf_figures figures() const {
    sf_figures figures{};
    detail::check(sf_plan_figures(plan_.get(), &figures));
    return figures;
  }
  void trace(bool on) { detail::check(sf_plan_trace(plan_.get(), on ? 1 : 0)); }

 protected:
  /// Throws what an operator threw, or what the library has to say.
  void check(sf_status status) const {
    if (status == SF_OK) return;
    for (const auto& holder : holders_) holder->rethrow();
    detail::check(status);
  }
  /// Whether the run is done; `status` is how it ended.
  bool done(sf_status& status) {
    int done = 0;
    status = sf_plan_test(plan_.get(), &done);
    return done != 0;
  }
  sf_plan* get() const { return plan_.get(); }
  void own(sf_plan* plan) { plan_.reset(plan); }
  void own(std::shared_ptr<OperatorHolder> holder) { holders_.push_back(std::move(holder)); }

 private:
  struct Free {
    void operator()(sf_plan* plan) const { sf_plan_free(plan); }
  };
  std::vector<std::shared_ptr<OperatorHolder>> holders_;  // outlive the plan
  std::unique_ptr<sf_plan, Free> plan_;
};

}  // namespace detail

/// A reduction agreed on once and run often: a run sends nothing but the reduction itself and allocates nothing.
/// Move-only; one thread at a time; of no use after MPI_Finalize. Collective.
/// T: the elements; Result: what they come to, T but for minimum_location and maximum_location (Located<T>).
template <class T, class Result = T>
class Plan : public detail::BoundPlan {
 public:
  /// `rows` elements on this rank, combined by `op` (BuiltIn<SF_DOT>{}, BuiltIn<SF_NORM2>{}, BuiltIn<SF_MEAN>{} too).
  template <class Op>
  Plan(const Op& op, std::uint64_t rows, MPI_Comm comm, const Options& options = {}) {
    bind(op, comm, [&](auto& held) { return detail::call_of(held, rows, options); });
  }

  /// MPI's shape: one vector of `count` elements a rank.
  template <class Op>
  static Plan of_vectors(const Op& op, std::uint64_t count, MPI_Comm comm, const Options& options = {}) {
    Plan plan;
    plan.bind(op, comm, [&](auto& held) { return detail::call_of_vectors(held, count, options); });
    return plan;
  }

  /// Of scan, of exscan, and of reduce_scatter.
  template <class Op>
  static Plan of_scan(const Op& op, std::uint64_t count, MPI_Comm comm, const Options& options = {}) {
    return of_prefix(SF_SCAN, op, count, comm, options);
  }
  template <class Op>
  static Plan of_exscan(const Op& op, std::uint64_t count, MPI_Comm comm, const Options& options = {}) {
    return of_prefix(SF_EXSCAN, op, count, comm, options);
  }
  template <class Op>
  static Plan of_reduce_scatter(const Op& op, std::span<const std::uint64_t> blocks, MPI_Comm comm,
                                const Options& options = {}) {
    Plan plan;
    plan.bind(op, comm, [&](auto& held) { return detail::call_of_blocks(held, blocks, options); });
    return plan;
  }

  /// One result out of distributed elements.
  Result run(std::span<const T> first, const T* second = nullptr) {
    auto result = detail::no_result<Result>();
    check(sf_plan_run(get(), first.data(), second, &result));
    return result;
  }
  /// The same for BuiltIn<SF_MASKED_SUM>{}: a byte an element of this rank.
  Result run(std::span<const T> first, std::span<const std::uint8_t> mask) {
    auto result = detail::no_result<Result>();
    const bool same_size = first.size() == mask.size();
    check(sf_plan_run(get(), first.data(), same_size ? mask.data() : nullptr, &result));
    return result;
  }
  /// A vector out of vectors: `result` may be `first`.
  void run(std::span<const T> first, std::span<Result> result) {
    check(sf_plan_run(get(), first.data(), nullptr, result.data()));
  }

  /// In two phases; the memory stays the plan's until it is done.
  void start(std::span<const T> first, std::span<Result> result) {
    check(sf_plan_start(get(), first.data(), nullptr, result.data()));
  }
  bool test() {
    sf_status status = SF_OK;
    const bool is_done = done(status);
    check(status);
    return is_done;
  }
  void wait() { check(sf_plan_wait(get())); }

 private:
  Plan() = default;

  template <class Op>
  static Plan of_prefix(sf_collective collective, const Op& op, std::uint64_t count, MPI_Comm comm,
                        const Options& options) {
    Plan plan;
    plan.bind(op, comm, [&](auto& held) {
      sf_call call = detail::call_of_vectors(held, count, options);
      call.collective = collective;
      return call;
    });
    return plan;
  }

  template <class Op, class MakeCall>
  void bind(const Op& op, MPI_Comm comm, MakeCall make_call) {
    static_assert(std::same_as<detail::result_t<T, Op>, Result>, "a plan of locations is a Plan<T, Located<T>>");
    auto held = std::make_shared<detail::HeldOperator<T, std::decay_t<Op>>>(op);
    const sf_call call = make_call(*held);
    own(held);
    sf_plan* plan = nullptr;
    check(sf_plan_bind(&call, comm, &plan));
    own(plan);
  }
};

}  // namespace steadfold
