// What the APIs for C++20 and C++17 share of groups of ranks: groups, the options of calls over them, and plans.
// Included by group.hpp and cxx17.hpp, which are the headers to include.
#pragma once

#include "steadfold/common.hpp"

#if __cplusplus >= 201703L

#include <memory>
#include <new>
#include <optional>

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
  /// How bytes move between them: "mpi", "shared", "shared+mpi", "rma".
  const char* transport() const noexcept { return sf_group_transport(handle_); }
  sf_group* handle() const noexcept { return handle_; }

 private:
  sf_group* handle_;
};

/// The options of a call. All but the layout's content and the threads must be the same on all ranks.
struct Options {
  Method method = {};
  Layout layout = {};
  std::optional<int> root = std::nullopt;  ///< the rank that gets the result; nothing: everybody
  std::string schedule = {};               ///< a name of `steadfold schedules`; empty: the library's choice
  Guarantees require = {};                 ///< what the bits must not depend on: refused where that cannot be kept
  unsigned threads = 1;                    ///< that go through this rank's own elements: the same bits for any number
};

namespace detail {

/// What has a group adds how to get it, `group`.
struct HasGroup {
  static RankOrder rank_order(std::uint64_t rows, Group group) {
    RankOrder found;
    check(sf_group_rank_order(rows, group.handle(), &found.mine, &found.element_count));
    return found;
  }
};

template <>
struct GroupOf<Group> : HasGroup {
  static Group group(Group group) noexcept { return group; }
};

/// What a collective call needs, `prepare()`. What that throws, mostly for want of memory, the other ranks are told in
/// the place of the call, so that none waits for this one.
template <class Prepare>
auto told(Group group, const Prepare& prepare) -> decltype(prepare()) {
  try {
    return prepare();
  } catch (const Error& error) {
    sf_group_refuse(group.handle(), error.status(), error.what());
    throw;
  } catch (const std::bad_alloc&) {
    sf_group_refuse(group.handle(), SF_INTERNAL, "out of memory (a call could not be described), free some");
    throw;
  } catch (const std::exception& error) {
    sf_group_refuse(group.handle(), SF_INTERNAL, error.what());
    throw;
  }
}
/// A new Call in this way.
template <class Call, class... Arguments>
std::unique_ptr<Call> made(Group group, const Arguments&... arguments) {
  return told(group, [&] { return std::make_unique<Call>(arguments...); });
}

struct PlanAccess;  // started.hpp

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
  friend struct PlanAccess;
  struct Free {
    void operator()(sf_plan* plan) const { sf_plan_free(plan); }
  };
  std::vector<std::shared_ptr<OperatorHolder>> holders_;  // outlive the plan
  std::unique_ptr<sf_plan, Free> plan_;
};

/// What goes with a run's elements: the other factors of a dot product, or a mask of one byte per element.
struct SecondRows {
  Second kind = Second::none;
  const void* data = nullptr;
  std::size_t size = 0;
};

/// What a run reads and writes on this rank.
struct Run {
  const void* first = nullptr;
  std::size_t elements = 0;
  SecondRows second;
  void* result = nullptr;
  std::size_t results = 0;
};

/// The sizes of what a run reads and writes on this rank.
struct Shape {
  Second second = Second::none;
  std::uint64_t elements = 0;
  std::uint64_t results = 0;
  bool gets_result = true;  // if not, the result may be left out

  static Shape of(const sf_call& call, int rank) {
    Shape shape;
    shape.second = second_of(call.operation);
    shape.elements = call.rows * call.columns;
    shape.results = call.columns;
    if (call.block_count > 0) shape.results = call.blocks[rank];
    shape.gets_result = call.collective == SF_EXSCAN ? rank > 0 : call.root == SF_ALL_RANKS || call.root == rank;
    return shape;
  }

  /// What is wrong with the sizes given to a run; empty if nothing is.
  std::string misfit(const Run& run) const {
    const auto bound_for = [](std::size_t given, const char* what, std::uint64_t bound) {
      return std::to_string(given) + what + " (the plan was bound for " + std::to_string(bound) +
             " on this rank), give as many";
    };
    if (run.elements != elements) return bound_for(run.elements, " elements", elements);
    if (run.second.kind != second) return misfit(second);
    if (second == Second::factors && run.second.size != elements)
      return bound_for(run.second.size, " elements in the second vector", elements);
    if (second == Second::mask && run.second.size != elements)
      return bound_for(run.second.size, " bytes in the mask", elements);
    if (run.results != results && (gets_result || run.results != 0))
      return bound_for(run.results, " places for results", results);
    return {};
  }
  static std::string misfit(Second wanted) {
    if (wanted == Second::factors) return "no second vector (a dot product takes two of one type), give one";
    if (wanted == Second::mask) return "no mask (a masked sum takes one byte per element), give one";
    return "a second vector or a mask (the plan's operation takes one vector), leave it out";
  }
};

/// A plan that compares the sizes of every run with those it was bound for.
class SizedPlan : public BoundPlan {
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
  void expect(const Shape& shape) { shape_ = shape; }

  // If a size is wrong, this rank takes part without data, which the library reports to all ranks, so that nobody waits
  // for it, and throws at the end of the run.
  void run_on(const Run& run) {
    const std::string fault = shape_.misfit(run);
    if (fault.empty()) return check(sf_plan_run(get(), run.first, run.second.data, run.result));
    sf_bundle_run(get(), nullptr, 0);
    throw Error(SF_INVALID_ARGUMENT, fault);
  }
  void start_on(const Run& run) {
    std::string fault = shape_.misfit(run);
    check(fault.empty() ? sf_plan_start(get(), run.first, run.second.data, run.result)
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

}  // namespace steadfold

#endif
