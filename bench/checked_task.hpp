// The task of a comparison over ranks: vectors, the expected result, plans, the user operator. After every sample,
// every rank compares its result with the result that one process computes from all vectors without a schedule.
#pragma once

#include <fmt/core.h>
#include <mpi.h>

#include <algorithm>
#include <concepts>
#include <limits>
#include <map>
#include <memory>
#include <type_traits>

#include "call/description.hpp"
#include "capi/boundary.hpp"
#include "capi/handles.hpp"
#include "program/job.hpp"
#include "program/methods.hpp"
#include "ranks.hpp"
#include "steadfold/mpi.hpp"
#include "vectors.hpp"

namespace steadfold::bench {

using command::Failure;
using command::Job;

enum class Wanted : std::uint8_t { sum, least, greatest };

/// An operator of MPI. `user` is a function of the caller; neither library knows its code.
struct Operator {
  std::string_view name;
  bool user;
  Wanted wanted;
};

/// An operator and an element type, with the names that each of the two libraries uses.
struct NamedOperator {
  MPI_Op of_mpi;
  const char* name_of_mpi;
  sf_operation operation;
};
inline NamedOperator named(Wanted wanted) {
  switch (wanted) {
    case Wanted::least: return {MPI_MIN, "MPI_MIN", SF_MIN};
    case Wanted::greatest: return {MPI_MAX, "MPI_MAX", SF_MAX};
    default: return {MPI_SUM, "MPI_SUM", SF_SUM};
  }
}
struct NamedType {
  const char* name;
  MPI_Datatype of_mpi;
  const char* name_of_mpi;
  sf_type type;
};
template <class T>
NamedType named_type() {
  if constexpr (std::is_same_v<T, double>) return {"f64", MPI_DOUBLE, "MPI_DOUBLE", SF_F64};
  if constexpr (std::is_same_v<T, float>) return {"f32", MPI_FLOAT, "MPI_FLOAT", SF_F32};
  if constexpr (std::is_same_v<T, int>) return {"i32", MPI_INT, "MPI_INT", SF_I32};
}

/// The user operator: the same loop for both libraries.
template <class T, Wanted wanted>
T combined(T left, T right) noexcept {
  switch (wanted) {
    case Wanted::least: return right < left ? right : left;
    case Wanted::greatest: return left < right ? right : left;
    default: return left + right;
  }
}
template <class T, Wanted wanted>
void combine(const T* left, const T* right, T* result, std::size_t count) noexcept {
  for (std::size_t i = 0; i < count; ++i) result[i] = combined<T, wanted>(left[i], right[i]);
}
/// Combines the rows of a rank with the operator in a loop, as programs do before an MPI_Allreduce. A row has as many
/// columns as `sums`.
template <class T, Wanted wanted>
void combine_rows(std::span<const T> rows, std::span<T> sums) noexcept {
  std::copy_n(rows.begin(), sums.size(), sums.begin());
  for (std::size_t begin = sums.size(); begin < rows.size(); begin += sums.size())
    combine<T, wanted>(sums.data(), rows.data() + begin, sums.data(), sums.size());
}
template <class T>
void combine_rows(Wanted wanted, std::span<const T> rows, std::span<T> sums) noexcept {
  switch (wanted) {
    case Wanted::least: return combine_rows<T, Wanted::least>(rows, sums);
    case Wanted::greatest: return combine_rows<T, Wanted::greatest>(rows, sums);
    default: return combine_rows<T, Wanted::sum>(rows, sums);
  }
}

template <class T, Wanted wanted>
int combine_for_us(const void* left, const void* right, void* result, std::size_t count, void* /*context*/) {
  combine<T, wanted>(static_cast<const T*>(left), static_cast<const T*>(right), static_cast<T*>(result), count);
  return 0;
}
template <class T, Wanted wanted>
void combine_for_mpi(void* in, void* in_and_out, int* count, MPI_Datatype* /*type*/) {
  combine<T, wanted>(static_cast<const T*>(in), static_cast<const T*>(in_and_out), static_cast<T*>(in_and_out),
                     static_cast<std::size_t>(*count));
}
template <class T>
struct UserOperator {
  decltype(sf_call::user) for_us;
  MPI_User_function* for_mpi;
};
template <class T>
UserOperator<T> user_operator(Wanted wanted) {
  switch (wanted) {
    case Wanted::least: return {combine_for_us<T, Wanted::least>, combine_for_mpi<T, Wanted::least>};
    case Wanted::greatest: return {combine_for_us<T, Wanted::greatest>, combine_for_mpi<T, Wanted::greatest>};
    default: return {combine_for_us<T, Wanted::sum>, combine_for_mpi<T, Wanted::sum>};
  }
}

inline void check(sf_status status) {
  if (status != SF_OK) throw Failure(sf_error_text());
}

/// Whether a plan of the call promises all ranks the same bits. The schedules that `auto` and `mpich` choose do so. If
/// a plan does not, users cannot bind it.
inline bool same_on_all_ranks(const sf_call& call, const std::string& schedule) {
  if (schedule == "auto" || schedule == "mpich") return true;
  call::HeldArguments arguments;
  const call::Description described = call::describe(capi::converted_call(&call, arguments));
  if (call::merging_of(described).is_associative) return true;
  const schedule::Spec spec = schedule::parse(schedule);
  return schedule::same_on_all_ranks(*spec.algorithm, &spec);
}

/// A plan that exists only during a sample, because the plans of all schedules would not fit in memory.
class ShortPlan {
 public:
  ShortPlan(const sf_call& call, std::string schedule) : call_(call), schedule_(std::move(schedule)) {}
  ShortPlan(const ShortPlan&) = delete;
  ShortPlan& operator=(const ShortPlan&) = delete;
  ~ShortPlan() { free(); }

  void bind() {
    call_.schedule = schedule_.c_str();
    check(sf_plan_bind(&call_, MPI_COMM_WORLD, &plan_));
  }
  void run(const void* first, void* result) { check(sf_plan_run(plan_, first, nullptr, result)); }
  void start(const void* first, void* result) { check(sf_plan_start(plan_, first, nullptr, result)); }
  bool test() {
    int done = 0;
    check(sf_plan_test(plan_, &done));
    return done != 0;
  }
  void wait() { check(sf_plan_wait(plan_)); }
  /// Returns the name of the plan's schedule, while the plan is bound.
  std::string schedule() const { return sf_plan_schedule(plan_); }
  /// Returns the predicted time in seconds; `nullopt` if the call names a schedule.
  std::optional<double> predicted() const { return plan_->plan->agreed().chosen.seconds; }
  /// Whether ranks read each other's rows, without a schedule.
  bool is_together() const { return plan_->plan->may_reduce_on_board(); }
  void free() { sf_plan_free(std::exchange(plan_, nullptr)); }

  /// Returns the mean size in bytes of the last run's messages, headers included. Collective.
  std::size_t bytes_per_message() const {
    sf_figures figures{};
    check(sf_plan_figures(plan_, &figures));
    std::uint64_t sums[] = {figures.messages, figures.bytes};
    MPI_Allreduce(MPI_IN_PLACE, sums, 2, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    return sums[0] == 0 ? 0 : sums[1] / sums[0];
  }

 private:
  sf_call call_;
  std::string schedule_;
  sf_plan* plan_ = nullptr;
};

/// Returns the labels of a call of Steadfold, or of a plan of the call. Collective.
inline Way way_of(const std::string& method, const std::string& schedule, const std::string& name,
                  const std::vector<std::size_t>& rivals, const sf_call& call) {
  Way way{.method = method,
          .schedule = schedule,
          .call = name,
          .rivals = rivals,
          .same_on_all_ranks = same_on_all_ranks(call, schedule)};
  if (schedule != "auto" && schedule != "mpich") return way;
  ShortPlan plan(call, schedule);
  plan.bind();
  way.chosen = plan.schedule();
  way.is_together = plan.is_together();
  if (!way.is_together) way.predicted = plan.predicted();
  return way;
}

/// The rows that the ranks reduce in one comparison.
struct Task {
  Operator op;
  std::size_t count;     // number of columns
  std::size_t rows = 1;  // number of rows of every rank
};

/// The rows of a rank, one after the other, and its result.
template <class T, class Allocator = std::allocator<T>>
struct Buffers {
  std::vector<T, Allocator> mine;
  std::vector<T, Allocator> result;
  Expected<T> near = {};  // the expected result with a tolerance, for sums in any order
};

/// The vectors of a task, the expected result, and calls whose results are compared with it.
template <class T>
class CheckedTask {
 public:
  CheckedTask(const Task& task, const Job& job)
      : task_(task),
        job_(job),
        buffers_{rows_of_rank(rank_in_world(), 0, task.count), std::vector<T>(task.count), near()} {
    MPI_Op_create(user_operator<T>(task.op.wanted).for_mpi, 1, &user_);
  }
  CheckedTask(const CheckedTask&) = delete;
  CheckedTask& operator=(const CheckedTask&) = delete;
  ~CheckedTask() { MPI_Op_free(&user_); }

  const Task& task() const { return task_; }
  Buffers<T>& buffers() { return buffers_; }
  MPI_Op users_op() const { return user_; }
  static MPI_Datatype mpi_type() { return named_type<T>().of_mpi; }
  MPI_Op built_in_op() const { return named(task_.op.wanted).of_mpi; }
  std::string built_in_name() const { return named(task_.op.wanted).name_of_mpi; }
  static std::string mpi_type_name() { return named_type<T>().name_of_mpi; }

  /// Returns the labels that all result rows of the comparison share.
  Json labels() const {
    return {{"operator", task_.op.name},
            {"type", named_type<T>().name},
            {"count", task_.count},
            {"rows", task_.rows},
            {"bytes", task_.count * sizeof(T)}};
  }

  /// Returns the call of the task with a method.
  sf_call call_by(const std::string& method) const {
    sf_call call = built_in_call(command::method_named(method));
    if (!task_.op.user) return call;
    call.operation = SF_USER;
    call.type = call.result_type = SF_BYTES;
    call.element_bytes = sizeof(T);
    call.user = user_operator<T>(task_.op.wanted).for_us;
    call.commutative = call.never_fails = 1;
    return call;
  }

  const Expected<T>& expected_of(const std::string& method, const sf_call& call) {
    if (!command::promises_the_same_bits(command::family_of(method))) return buffers_.near;
    const auto [place, is_new] = expected_.try_emplace(method);
    if (is_new) place->second = {reduced_locally(call), 0};
    return place->second;
  }

  /// Makes a candidate. Each sample begins with an untimed call and a wrong result in memory, and ends with a
  /// comparison.
  template <class Call, class Allocator>
  Candidate checked(
      const std::string& name, Buffers<T, Allocator>& buffers, const Expected<T>& expected, Call call,
      const std::function<void()>& bind = [] {}, const std::function<void()>& free = [] {}) {
    Candidate candidate = candidate_of(call);
    candidate.prepare = [&buffers, bind, call] {
      bind();
      call();
      std::ranges::fill(buffers.result, impossible);
    };
    candidate.finish = [this, &buffers, &expected, name, free] {
      free();
      job_.together([&] { compare(name, buffers.result, expected); });
    };
    return candidate;
  }

 private:
  static constexpr T impossible =
      std::integral<T> ? std::numeric_limits<T>::lowest() : std::numeric_limits<T>::quiet_NaN();

  sf_call built_in_call(const Method& method) const {
    sf_call call = sf_call_default();
    method.describe(call);
    call.layout = task_.rows == 1 ? SF_ROW_PER_RANK : SF_RANK_ORDER;
    call.rows = task_.rows;
    call.columns = task_.count;
    call.operation = named(task_.op.wanted).operation;
    call.type = call.result_type = named_type<T>().type;
    return call;
  }

  /// Returns the columns begin, ..., begin + count - 1 of a rank's rows.
  std::vector<T> rows_of_rank(int rank, std::size_t begin, std::size_t count) const {
    std::vector<T> rows;
    rows.reserve(task_.rows * count);
    for (std::size_t row = 0; row < task_.rows; ++row) {
      const auto number = static_cast<std::uint64_t>(rank) * task_.rows + row;
      const std::vector<T> columns = columns_of_row<T>(number, begin, count);
      rows.insert(rows.end(), columns.begin(), columns.end());
    }
    return rows;
  }

  /// Returns the expected result. This process computes it alone, some columns at a time to save memory.
  std::vector<T> reduced_locally(sf_call call) const {
    constexpr std::size_t at_a_time = std::size_t{1} << 16;
    const int rank_count = rank_count_of_world();
    std::vector<T> results(task_.count);
    std::vector<T> rows;
    call.layout = SF_ANYWHERE;
    call.rows = static_cast<std::uint64_t>(rank_count) * task_.rows;
    for (std::size_t begin = 0; begin < task_.count; begin += at_a_time) {
      call.columns = std::min(at_a_time, task_.count - begin);
      rows.clear();
      for (int rank = 0; rank < rank_count; ++rank) {
        const std::vector<T> its_rows = rows_of_rank(rank, begin, call.columns);
        rows.insert(rows.end(), its_rows.begin(), its_rows.end());
      }
      bench::check(sf_reduce_local(&call, rows.data(), nullptr, results.data() + begin));
    }
    return results;
  }

  /// Returns the tolerance for sums of n numbers below 1 in any order: n - 1 roundings of at most n, and the roundings
  /// of the reference.
  Expected<T> near() const {
    const double numbers = static_cast<double>(rank_count_of_world()) * static_cast<double>(task_.rows);
    const double unit = static_cast<double>(std::numeric_limits<T>::epsilon());
    const bool rounds = std::floating_point<T> && task_.op.wanted == Wanted::sum;
    return {reduced_locally(built_in_call({rounds ? SF_EXACT : SF_TREE})), rounds ? numbers * numbers * unit : 0};
  }

  static void compare(const std::string& name, std::span<const T> result, const Expected<T>& expected) {
    const auto wrong = expected.first_wrong(result);
    if (!wrong) return;
    const auto digits = [](T value) {
      return std::integral<T> ? fmt::format("{}", value) : fmt::format("{:a}", double(value));
    };
    throw Failure(
        fmt::format("{} gave a wrong result (column {} of {} on rank {} is {} instead of {}), report this error", name,
                    *wrong, result.size(), rank_in_world(), digits(result[*wrong]), digits(expected.results[*wrong])),
        command::check_failed);
  }

  Task task_;
  const Job& job_;
  Buffers<T> buffers_;
  std::map<std::string, Expected<T>> expected_;
  MPI_Op user_ = MPI_OP_NULL;
};

}  // namespace steadfold::bench
