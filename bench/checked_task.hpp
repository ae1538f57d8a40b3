// What is reduced in a contest over ranks: the vectors, the result expected of them, plans, the user operator. After
// every sample every rank compares its result with what one process computes from all vectors without any schedule.
// Source: ours.
#pragma once

#include <fmt/core.h>
#include <mpi.h>

#include <algorithm>
#include <limits>
#include <map>
#include <memory>

#include "program/job.hpp"
#include "program/methods.hpp"
#include "ranks.hpp"
#include "steadfold/mpi.hpp"
#include "vectors.hpp"

namespace steadfold::bench {

using command::Failure;
using command::Job;

/// `user`: a function of the caller's, which neither library can look into.
struct Operator {
  std::string_view name;
  bool user;
  bool greatest;
};

/// The user operator: the same loop for both libraries.
template <class T, bool greatest>
void combine(const T* left, const T* right, T* result, std::size_t count) noexcept {
  for (std::size_t i = 0; i < count; ++i)
    result[i] = greatest ? (left[i] < right[i] ? right[i] : left[i]) : left[i] + right[i];
}
template <class T, bool greatest>
int combine_for_us(const void* left, const void* right, void* result, std::size_t count, void* /*context*/) {
  combine<T, greatest>(static_cast<const T*>(left), static_cast<const T*>(right), static_cast<T*>(result), count);
  return 0;
}
template <class T, bool greatest>
void combine_for_mpi(void* in, void* in_and_out, int* count, MPI_Datatype* /*type*/) {
  combine<T, greatest>(static_cast<const T*>(in), static_cast<const T*>(in_and_out), static_cast<T*>(in_and_out),
                       static_cast<std::size_t>(*count));
}

inline void check(sf_status status) {
  if (status != SF_OK) throw Failure(sf_error_text());
}

/// A plan that exists during a sample only: all schedules' plans at once would not fit into memory.
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
  void free() { sf_plan_free(std::exchange(plan_, nullptr)); }

  /// The mean size of the last run's messages, headers included. Collective.
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

/// What is reduced in one contest.
struct Task {
  Operator op;
  std::size_t count;
};

/// A rank's vector and its result.
template <class T>
struct Buffers {
  std::vector<T> mine;
  std::vector<T> result;
  Expected<T> near = {};  // the result expected of any order
};

/// The vectors of a task, the result expected of them, and calls that are compared with it.
template <class T>
class CheckedTask {
 public:
  CheckedTask(const Task& task, const Job& job)
      : task_(task),
        job_(job),
        buffers_{columns_of_rank<T>(rank_in_world(), 0, task.count), std::vector<T>(task.count), near()} {
    MPI_Op_create(task.op.greatest ? combine_for_mpi<T, true> : combine_for_mpi<T, false>, 1, &user_);
  }
  CheckedTask(const CheckedTask&) = delete;
  CheckedTask& operator=(const CheckedTask&) = delete;
  ~CheckedTask() { MPI_Op_free(&user_); }

  const Task& task() const { return task_; }
  Buffers<T>& buffers() { return buffers_; }
  MPI_Op users_op() const { return user_; }
  static constexpr bool wide = sizeof(T) == 8;
  static MPI_Datatype mpi_type() { return wide ? MPI_DOUBLE : MPI_FLOAT; }
  MPI_Op built_in_op() const { return task_.op.greatest ? MPI_MAX : MPI_SUM; }
  std::string built_in_name() const { return task_.op.greatest ? "MPI_MAX" : "MPI_SUM"; }
  static std::string mpi_type_name() { return wide ? "MPI_DOUBLE" : "MPI_FLOAT"; }

  /// What all rows of the contest share.
  Json labels() const {
    return {{"operator", task_.op.name},
            {"type", wide ? "f64" : "f32"},
            {"count", task_.count},
            {"bytes", task_.count * sizeof(T)}};
  }

  /// The call of the task by a method, one row per rank.
  sf_call call_by(const std::string& method) const {
    sf_call call = built_in_call(command::method_named(method));
    if (!task_.op.user) return call;
    call.operation = SF_USER;
    call.type = call.result_type = SF_BYTES;
    call.element_bytes = sizeof(T);
    call.user = task_.op.greatest ? combine_for_us<T, true> : combine_for_us<T, false>;
    call.commutative = call.never_fails = 1;
    return call;
  }

  const Expected<T>& expected_of(const std::string& method, const sf_call& call) {
    if (!command::promises_the_same_bits(command::family_of(method))) return buffers_.near;
    const auto [place, is_new] = expected_.try_emplace(method);
    if (is_new) place->second = {reduced_locally(call), 0};
    return place->second;
  }

  /// A candidate that begins every sample with an uncounted call and a result of NaNs, and ends it with a comparison.
  template <class Call>
  Candidate checked(
      const std::string& name, Buffers<T>& buffers, const Expected<T>& expected, Call call,
      const std::function<void()>& bind = [] {}, const std::function<void()>& free = [] {}) {
    Candidate candidate = candidate_of(call);
    candidate.prepare = [&buffers, bind, call] {
      bind();
      call();
      std::ranges::fill(buffers.result, std::numeric_limits<T>::quiet_NaN());
    };
    candidate.finish = [this, &buffers, &expected, name, free] {
      free();
      job_.together([&] { compare(name, buffers.result, expected); });
    };
    return candidate;
  }

 private:
  sf_call built_in_call(const Method& method) const {
    sf_call call = sf_call_default();
    method.describe(call);
    call.layout = SF_ROW_A_RANK;
    call.rows = 1;
    call.columns = task_.count;
    call.operation = task_.op.greatest ? SF_MAX : SF_SUM;
    call.type = call.result_type = wide ? SF_F64 : SF_F32;
    return call;
  }

  /// The expected result, computed by this process alone, some columns at a time to save memory.
  std::vector<T> reduced_locally(sf_call call) const {
    constexpr std::size_t at_a_time = std::size_t{1} << 16;
    const int rank_count = rank_count_of_world();
    std::vector<T> results(task_.count);
    std::vector<T> rows;
    call.layout = SF_ANYWHERE;
    call.rows = static_cast<std::uint64_t>(rank_count);
    for (std::size_t begin = 0; begin < task_.count; begin += at_a_time) {
      call.columns = std::min(at_a_time, task_.count - begin);
      rows.clear();
      for (int rank = 0; rank < rank_count; ++rank) {
        const std::vector<T> row = columns_of_rank<T>(rank, begin, call.columns);
        rows.insert(rows.end(), row.begin(), row.end());
      }
      bench::check(sf_reduce_local(&call, rows.data(), nullptr, results.data() + begin));
    }
    return results;
  }

  /// Expected of any order, for sums of p numbers below 1: p - 1 roundings of at most p, and the reference's own.
  Expected<T> near() const {
    const double ranks = rank_count_of_world();
    const double unit = static_cast<double>(std::numeric_limits<T>::epsilon());
    return {reduced_locally(built_in_call({task_.op.greatest ? SF_TREE : SF_EXACT})),
            task_.op.greatest ? 0 : ranks * ranks * unit};
  }

  static void compare(const std::string& name, const std::vector<T>& result, const Expected<T>& expected) {
    const auto wrong = expected.first_wrong(result);
    if (!wrong) return;
    throw Failure(fmt::format("{} went wrong (column {} of {} on rank {} is {:a} in place of {:a}), please report it",
                              name, *wrong, result.size(), rank_in_world(), result[*wrong], expected.results[*wrong]),
                  command::check_failed);
  }

  Task task_;
  const Job& job_;
  Buffers<T> buffers_;
  std::map<std::string, Expected<T>> expected_;
  MPI_Op user_ = MPI_OP_NULL;
};

}  // namespace steadfold::bench
