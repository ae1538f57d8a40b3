// Steadfold for C++20 over groups of ranks. mpi.hpp has MPI's communicators; every function here takes either.
//
// Distributed elements: every rank holds some of N elements, and the bits do not depend on how many ranks there are.
//   double s = sf::sum(x, comm);                                            // correctly rounded
//   double t = sf::sum(x, comm, {.method = sf::tree(), .layout = sf::Layout::contiguous(x.size(), comm)});
//   Matrix m = sf::reduce(matrices, multiply, comm, {.layout = layout});    // any operator, in the fixed tree
//
// MPI's shape: every rank brings one vector, N is the number of ranks. The bits depend on that number alone.
//   sf::allreduce(buffer, sf::plus, comm);                                 // reduce_to, scan, exscan, reduce_scatter
//
// All calls are collective: every rank makes them, in the same order. A failure on one rank is an Error on all.
// Header-only over the C functions of steadfold_group.h.
#pragma once

#include "steadfold/steadfold.hpp"

#if __cplusplus >= 202002L

#include <algorithm>
#include <memory>
#include <numeric>
#include <optional>
#include <vector>

#include "steadfold/steadfold_group.h"

namespace steadfold {

/// A group of ranks, and what the library keeps for it. Copies refer to the same group, which belongs to what it was
/// made of: the group of an MPI communicator ends with it.
class Group {
 public:
  explicit Group(sf_group* handle) noexcept : handle_(handle) {}
  /// This rank's number, from 0 on, and how many ranks there are.
  int rank() const noexcept { return sf_group_rank(handle_); }
  int size() const noexcept { return sf_group_size(handle_); }
  sf_group* handle() const noexcept { return handle_; }

 private:
  sf_group* handle_;
};

/// The options of a call. All but the layout's content and the threads must be the same on all ranks.
struct Options {
  Method method = {};
  Layout layout = {};
  std::optional<int> root = std::nullopt;  ///< who gets the result; nothing: everybody
  std::string schedule = {};               ///< a name of `steadfold schedules`; empty: the library's choice
  Guarantees require = {};                 ///< what the bits must not depend on: refused where that cannot be kept
  unsigned threads = 1;                    ///< that go through this rank's own elements: the same bits for any number
};

namespace detail {

/// A call in the form of the C interface; it points into `held` and `options`.
template <class T, class Op, class SomeOptions>
sf_call call_of(HeldOperator<T, Op>& held, std::uint64_t rows, const SomeOptions& options) {
  sf_call call = call_of_defaults();
  held.describe(call);
  describe(options, call);
  call.rows = rows;
  return call;
}

/// MPI's shape: every rank brings one row of `columns` elements.
template <class T, class Op, class SomeOptions>
sf_call call_of_vectors(HeldOperator<T, Op>& held, std::uint64_t columns, const SomeOptions& options,
                        sf_collective collective = SF_REDUCE) {
  sf_call call = call_of(held, 1, options);
  call.layout = SF_ROW_A_RANK;
  call.columns = columns;
  call.collective = collective;
  return call;
}

/// The same, cut into blocks.
template <class T, class Op>
sf_call call_of_blocks(HeldOperator<T, Op>& held, std::span<const std::uint64_t> blocks, const Options& options) {
  const auto columns = std::accumulate(blocks.begin(), blocks.end(), std::uint64_t{0});
  sf_call call = call_of_vectors(held, columns, options, SF_REDUCE_SCATTER);
  call.blocks = blocks.data();
  call.block_count = blocks.size();
  return call;
}

/// Calls over groups; what stands for a group adds how to get it, `group`.
struct OverGroup {
  using Options = steadfold::Options;

  static RankOrder rank_order(std::uint64_t rows, Group group) {
    RankOrder found;
    check(sf_group_rank_order(rows, group.handle(), &found.mine, &found.element_count));
    return found;
  }

  /// If two vectors differ in size, the call is made without the second, reads neither and fails on all ranks, so that
  /// none waits for a rank that threw.
  template <class T, class Op>
  static result_t<T, Op> reduce(const Operands<T>& x, const Op& op, Group group, const Options& options) {
    HeldOperator<T, std::decay_t<Op>> held(op);
    const std::string fault = misfit(x, op);
    const sf_call call = call_of(held, std::max(x.first.size(), x.second_size), options);
    auto result = no_result<result_t<T, Op>>();
    const sf_status status =
        sf_group_reduce(&call, x.first.data(), fault.empty() ? x.second : nullptr, &result, group.handle());
    if (!fault.empty()) throw Error(SF_INVALID_ARGUMENT, fault);
    check(status, &held);
    return result;
  }
};

template <>
struct Over<Group> : OverGroup {
  static Group group(Group group) noexcept { return group; }
};

/// A buffer for results in place of elements: any contiguous range of variables.
template <class Op, class R>
constexpr bool is_writable() {
  if constexpr (!is_readable<Op, std::remove_cvref_t<R>>()) {
    return false;
  } else {
    constexpr bool stays = std::is_lvalue_reference_v<R> || std::ranges::borrowed_range<R>;
    static_assert(stays, "results are written to the buffer: give a variable, a temporary is gone after the call");
    constexpr bool is_mutable = !std::is_const_v<std::remove_reference_t<std::ranges::range_reference_t<R>>>;
    static_assert(is_mutable, "results are written to the buffer: its elements must not be const");
    using T = element_t<R>;
    constexpr bool fits = std::same_as<result_t<T, Op>, T>;
    static_assert(fits, "results take the place of elements here, and these have another type: convert the elements");
    return stays && is_mutable && fits;
  }
}
template <class Op, class R>
std::span<read_t<Op, R>> results_in(R&& buffer) {
  if constexpr (is_writable<Op, R>())
    return {std::ranges::data(buffer), std::ranges::size(buffer)};
  else
    return {};
}

template <class R, class Op>
void reduce_in_place(R&& buffer, const Op& op, Group group, const Options& options,
                     sf_collective collective = SF_REDUCE) {
  const auto& combine = operator_for<R>(op);
  const auto results = results_in<Op>(std::forward<R>(buffer));
  HeldOperator<read_t<Op, R>, std::decay_t<decltype(combine)>> held(combine);
  const sf_call call = call_of_vectors(held, results.size(), options, collective);
  check(sf_group_reduce(&call, results.data(), nullptr, results.data(), group.handle()), &held);
}

/// If the result has another size than this rank's block, the call is made without data and fails on all ranks, so that
/// none waits for a rank that threw.
template <class T, class Op>
void reduce_blocks(std::span<const T> values, std::span<const std::uint64_t> blocks, std::span<T> result, const Op& op,
                   Group group, const Options& options) {
  HeldOperator<T, std::decay_t<Op>> held(op);
  sf_call call = call_of_blocks(held, blocks, options);
  call.columns = values.size();
  const auto own = static_cast<std::size_t>(group.rank());
  const bool fits = own >= blocks.size() || blocks[own] == result.size();
  const sf_status status =
      sf_group_reduce(&call, fits ? values.data() : nullptr, nullptr, fits ? result.data() : nullptr, group.handle());
  if (!fits)
    throw Error(SF_INVALID_ARGUMENT, "room for " + std::to_string(result.size()) + " results (this rank's block has " +
                                         std::to_string(blocks[own]) + " elements), give room for as many");
  check(status, &held);
}

}  // namespace detail

/// The group of a communicator, which code that knows no MPI can pass on. Collective when a communicator is used for
/// the first time. Throws Error.
template <Communicator C>
Group group_of(const C& comm) {
  return detail::Over<C>::group(comm);
}

/// MPI's shape, in place: buffer[i] of all ranks combined by `op` in the binary tree over ranks. The bits depend on the
/// number of ranks, but not on algorithm, topology or MPI library. Options: method and schedule. The buffer is any
/// contiguous range of elements that may be written to.
template <class R, class Op, Communicator C>
void allreduce(R&& buffer, const Op& op, const C& comm, const Options& options = {}) {
  detail::reduce_in_place(std::forward<R>(buffer), op, group_of(comm), options);
}

/// The same, for `root` only: the buffers of other ranks stay as they are.
template <class R, class Op, Communicator C>
void reduce_to(int root, R&& buffer, const Op& op, const C& comm, Options options = {}) {
  options.root = root;
  detail::reduce_in_place(std::forward<R>(buffer), op, group_of(comm), options);
}

/// MPI's shape, in place: buffer[i] of ranks 0 to this one, combined by `op` in the binary tree over those ranks.
template <class R, class Op, Communicator C>
void scan(R&& buffer, const Op& op, const C& comm, const Options& options = {}) {
  detail::reduce_in_place(std::forward<R>(buffer), op, group_of(comm), options, SF_SCAN);
}

/// The same over the ranks below this one; the buffer of rank 0 stays as it is.
template <class R, class Op, Communicator C>
void exscan(R&& buffer, const Op& op, const C& comm, const Options& options = {}) {
  detail::reduce_in_place(std::forward<R>(buffer), op, group_of(comm), options, SF_EXSCAN);
}

/// MPI's shape: combines the vectors of all ranks by `op`; rank r gets blocks[r] elements, after those of the lower
/// ranks. The bits are those of allreduce. `values` has as many elements as all blocks together, `result` as many as
/// this rank's block; it may be part of `values`.
template <class R, class S, class Op, Communicator C>
void reduce_scatter(const R& values, std::span<const std::uint64_t> blocks, S&& result, const Op& op, const C& comm,
                    const Options& options = {}) {
  using T = detail::read_t<Op, R>;
  constexpr bool is_alike = std::same_as<detail::read_t<Op, S>, T>;
  static_assert(is_alike, "values and results have elements of one type: convert one of them");
  if constexpr (is_alike)
    detail::reduce_blocks(detail::elements_of<Op>(values), blocks, detail::results_in<Op>(std::forward<S>(result)),
                          detail::operator_for<R>(op), group_of(comm), options);
}

/// The same in blocks of one size.
template <class R, class S, class Op, Communicator C>
void reduce_scatter_block(const R& values, S&& result, const Op& op, const C& comm, const Options& options = {}) {
  const Group group = group_of(comm);
  const auto ranks = static_cast<std::size_t>(group.size());
  const std::vector<std::uint64_t> blocks(ranks, detail::elements_of<Op>(values).size() / ranks);
  reduce_scatter(values, blocks, std::forward<S>(result), op, group, options);
}

namespace detail {

/// What all plans have in common.
class BoundPlan {
 public:
  std::string describe() const { return sf_plan_describe(plan_.get()); }
  std::string schedule() const { return sf_plan_schedule(plan_.get()); }
  /// Figures of the last run, on this rank.
  sf_figures figures() const {
    sf_figures figures{};
    detail::check(sf_plan_figures(plan_.get(), &figures));
    return figures;
  }
  void trace(bool on) { detail::check(sf_plan_trace(plan_.get(), on ? 1 : 0)); }

 protected:
  /// Throws what an operator threw, or the library's error.
  void check(sf_status status) const {
    if (status == SF_OK) return;
    for (const auto& holder : holders_) holder->rethrow();
    detail::check(status);
  }
  /// Whether the run has ended; `status` is how.
  bool done(sf_status& status) {
    int done = 0;
    status = sf_plan_test(plan_.get(), &done);
    return done != 0;
  }
  /// The same after at most this time.
  bool done_within(std::uint64_t nanoseconds, sf_status& status) {
    int done = 0;
    status = sf_plan_wait_for(plan_.get(), nanoseconds, &done);
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

/// What goes with a run's elements: the other factors of a dot product, or a mask of one byte per element.
template <class T>
struct Beside {
  Beside() = default;
  template <Vector R>
    requires std::same_as<element_t<R>, T> || Mask<R>
  Beside(const R& x)
      : kind(std::same_as<element_t<R>, T> ? Second::factors : Second::mask),
        data(std::ranges::data(x)),
        size(std::ranges::size(x)) {}

  Second kind = Second::none;
  const void* data = nullptr;
  std::size_t size = 0;
};

/// The sizes of what a run reads and writes on this rank.
struct Shape {
  Second second = Second::none;
  std::uint64_t elements = 0;
  std::uint64_t results = 0;
  bool gets_result = true;  // if not, the result may be left out

  static Shape of(const sf_call& call, int rank) {
    Shape shape{.second = second_of(call.operation), .elements = call.rows * call.columns, .results = call.columns};
    if (call.block_count > 0) shape.results = call.blocks[rank];
    shape.gets_result = call.collective == SF_EXSCAN ? rank > 0 : call.root == SF_ALL_RANKS || call.root == rank;
    return shape;
  }

  /// What is wrong with the sizes given to a run; empty if nothing is.
  template <class T>
  std::string misfit(std::size_t first, const Beside<T>& beside, std::size_t result) const {
    const auto bound_for = [](std::size_t given, const char* what, std::uint64_t bound) {
      return std::to_string(given) + what + " (the plan was bound for " + std::to_string(bound) +
             " on this rank), give as many";
    };
    if (first != elements) return bound_for(first, " elements", elements);
    if (beside.kind != second) return misfit(second);
    if (second == Second::factors && beside.size != elements)
      return bound_for(beside.size, " elements in the second vector", elements);
    if (second == Second::mask && beside.size != elements)
      return bound_for(beside.size, " bytes in the mask", elements);
    if (result != results && (gets_result || result != 0)) return bound_for(result, " places for results", results);
    return {};
  }
  static std::string misfit(Second wanted) {
    if (wanted == Second::factors) return "no second vector (a dot product takes two of one type), give one";
    if (wanted == Second::mask) return "no mask (a masked sum takes one byte per element), give one";
    return "a second vector or a mask (the plan's operation takes one vector), leave it out";
  }
};

/// A plan of one reduction. It compares the sizes of every run with those it was bound for.
class SinglePlan : public BoundPlan {
 public:
  bool test() {
    sf_status status = SF_OK;
    const bool is_done = done(status);
    conclude(status);
    return is_done;
  }
  void wait() { conclude(sf_plan_wait(get())); }
  /// Waits at most this long; says whether the run has ended. If not, it goes on: call this, `test` or `wait` again.
  template <class Count, class Period>
  bool wait_for(std::chrono::duration<Count, Period> timeout) {
    sf_status status = SF_OK;
    const bool is_done = done_within(nanoseconds_of(timeout), status);
    conclude(status);
    return is_done;
  }

 protected:
  template <class T, class Result, class Op, class MakeCall>
  void bind(const Op& op, Group group, MakeCall make_call) {
    constexpr bool is_combined = is_combinable<T, std::decay_t<Op>>();
    constexpr bool fits = !is_combined || std::same_as<result_t<T, Op>, Result>;
    static_assert(fits,
                  "the operator's results have another type than the plan's: name it, as in "
                  "sf::Plan<double, sf::Located<double>> or sf::Plan<float, double>");
    if constexpr (is_combined && fits) {
      auto held = std::make_shared<HeldOperator<T, std::decay_t<Op>>>(op);
      const sf_call call = make_call(*held);
      own(held);
      sf_plan* plan = nullptr;
      check(sf_group_bind(&call, 1, group.handle(), &plan));
      own(plan);
      shape_ = Shape::of(call, group.rank());
    }
  }

  // If a size is wrong, this rank takes part without data, which the library reports to all ranks, so that nobody waits
  // for it, and throws at the end of the run.
  template <class T, class Result>
  void run_on(std::span<const T> first, const Beside<T>& beside, std::span<Result> result) {
    const std::string fault = shape_.misfit(first.size(), beside, result.size());
    if (fault.empty()) return check(sf_plan_run(get(), first.data(), beside.data, result.data()));
    sf_bundle_run(get(), nullptr, 0);
    throw Error(SF_INVALID_ARGUMENT, fault);
  }
  template <class T, class Result>
  void start_on(std::span<const T> first, const Beside<T>& beside, std::span<Result> result) {
    std::string fault = shape_.misfit(first.size(), beside, result.size());
    check(fault.empty() ? sf_plan_start(get(), first.data(), beside.data, result.data())
                        : sf_bundle_start(get(), nullptr, 0));
    if (!fault.empty() || !fault_.empty()) fault_ = std::move(fault);  // a thread that is refused writes nothing
  }

 private:
  void conclude(sf_status status) {
    if (status != SF_OK && !fault_.empty()) throw Error(SF_INVALID_ARGUMENT, std::exchange(fault_, {}));
    check(status);
  }

  Shape shape_;
  std::string fault_;  // of the run under way
};

}  // namespace detail

/// A reduction to several results per rank, agreed on once and run often; bound by Plan<T>::of_vectors and its like. A
/// run sends nothing but the reduction itself and allocates nothing. Move-only; one thread at a time; unusable after
/// MPI_Finalize. Collective. Wrong sizes are an Error, also on every rank that would wait for this one.
template <class T, class Result = T>
class VectorPlan : public detail::SinglePlan {
 public:
  /// `values` has the size of the vectors, `result` that of this rank's part of the result; on a rank that gets nothing
  /// it may be empty. `result` may be `values`; in a reduce_scatter it may be part of them.
  void run(std::span<const T> values, std::span<Result> result) {
    this->template run_on<T, Result>(values, {}, result);
  }
  /// In place.
  void run(std::span<T> buffer)
    requires std::same_as<T, Result>
  {
    run(buffer, buffer);
  }

  /// In two phases, with `test`, `wait` and `wait_for`; the plan uses the memory until the run has ended.
  void start(std::span<const T> values, std::span<Result> result) {
    this->template start_on<T, Result>(values, {}, result);
  }
  void start(std::span<T> buffer)
    requires std::same_as<T, Result>
  {
    start(buffer, buffer);
  }

 private:
  template <class, class>
  friend class Plan;
  VectorPlan() = default;
};

/// A reduction of distributed elements to one result, agreed on once and run often: a run sends nothing but the
/// reduction itself and allocates nothing. Move-only; one thread at a time; unusable after MPI_Finalize. Collective. T:
/// the elements; Result: T, except for locations (Located<T>) and results of another type. Wrong sizes are an Error,
/// also on every rank that would wait for this one.
template <class T, class Result = T>
class Plan : public detail::SinglePlan {
 public:
  using Vectors = VectorPlan<T, Result>;

  /// `rows` elements on this rank, combined by `op`: sf::plus, sf::dot, sf::norm2, ..., or one of your own.
  template <class Op, Communicator C>
  Plan(const Op& op, std::uint64_t rows, const C& comm, const Options& options = {}) {
    this->template bind<T, Result>(op, group_of(comm),
                                   [&](auto& held) { return detail::call_of(held, rows, options); });
  }

  /// The same for the name of a function: Plan<double>(sf::sum, rows, comm).
  template <Communicator C>
  Plan(detail::Sum<T>& /*sum*/, std::uint64_t rows, const C& comm, const Options& options = {})
      : Plan(plus, rows, comm, options) {}

  /// The result, if this rank gets one (else a NaN; integers: 0). `second`: what sf::dot multiplies with, or the mask
  /// of sf::masked_sum.
  Result run(std::span<const T> first, const detail::Beside<T>& second = {}) {
    auto result = detail::no_result<Result>();
    this->template run_on<T, Result>(first, second, {&result, 1});
    return result;
  }

  /// In two phases, with `test`, `wait` and `wait_for`; the plan uses the memory until the run has ended. `result` has
  /// one element; on a rank that gets no result it may be empty.
  void start(std::span<const T> first, std::span<Result> result) { start(first, {}, result); }
  void start(std::span<const T> first, const detail::Beside<T>& second, std::span<Result> result) {
    this->template start_on<T, Result>(first, second, result);
  }

  /// MPI's shape: every rank brings one vector of `count` elements.
  template <class Op, Communicator C>
  static Vectors of_vectors(const Op& op, std::uint64_t count, const C& comm, const Options& options = {}) {
    return of_count(SF_REDUCE, op, count, comm, options);
  }
  /// The same for scan, exscan and reduce_scatter.
  template <class Op, Communicator C>
  static Vectors of_scan(const Op& op, std::uint64_t count, const C& comm, const Options& options = {}) {
    return of_count(SF_SCAN, op, count, comm, options);
  }
  template <class Op, Communicator C>
  static Vectors of_exscan(const Op& op, std::uint64_t count, const C& comm, const Options& options = {}) {
    return of_count(SF_EXSCAN, op, count, comm, options);
  }
  template <class Op, Communicator C>
  static Vectors of_reduce_scatter(const Op& op, std::span<const std::uint64_t> blocks, const C& comm,
                                   const Options& options = {}) {
    Vectors plan;
    plan.template bind<T, Result>(op, group_of(comm),
                                  [&](auto& held) { return detail::call_of_blocks(held, blocks, options); });
    return plan;
  }

 private:
  template <class Op, Communicator C>
  static Vectors of_count(sf_collective collective, const Op& op, std::uint64_t count, const C& comm,
                          const Options& options) {
    Vectors plan;
    plan.template bind<T, Result>(
        op, group_of(comm), [&](auto& held) { return detail::call_of_vectors(held, count, options, collective); });
    return plan;
  }
};

}  // namespace steadfold

#endif
