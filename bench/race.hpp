// A contest of allreduces: all candidates for the result of one task, with their rivals.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "checked_task.hpp"
#include "steadfold/memory.hpp"

namespace steadfold::bench {

/// One contest: a task, its rivals, and its candidates.
template <class T>
class Race {
 public:
  Race(const Task& task, const Job& job) : task_(task, job) {
    const std::size_t built_in = add_mpi(task_.buffers(), task_.built_in_op(), name_of_mpi(task_.built_in_name()));
    const std::size_t user = add_mpi(task_.buffers(), task_.users_op(), name_of_mpi("a user operator"));
    rivals_ = task.op.user ? std::vector{user, built_in} : std::vector{built_in, user};
  }

  /// Adds the rival that sends as many bytes as the method's partials have. Call this function before `add` for the
  /// method.
  void add_rival_of(const std::string& method) {
    ShortPlan plan(task_.call_by(method), "recursive_doubling");
    plan.bind();
    plan.run(task_.buffers().mine.data(), task_.buffers().result.data());
    const std::size_t count = std::max<std::size_t>(1, (plan.bytes_per_message() + sizeof(T) - 1) / sizeof(T));
    const auto [place, is_new] = wider_.try_emplace(count);
    if (is_new) add_wider(place->second, count);
    wider_of_[method] = &place->second;
  }

  /// Adds the rival of the schedule `reduce_broadcast`: MPI_Reduce, then MPI_Bcast. Call this function before `add` for
  /// that schedule.
  void add_reduce_and_broadcast() {
    const std::string type = CheckedTask<T>::mpi_type_name();
    const std::string name = "MPI_Reduce(" + type + ", " + task_.built_in_name() + "), MPI_Bcast(" + type + ")";
    reduce_and_broadcast_ =
        add_mpi(task_.buffers(), name, [op = task_.built_in_op()](const T* row, T* result, int count) {
          MPI_Reduce(row, result, count, CheckedTask<T>::mpi_type(), op, 0, MPI_COMM_WORLD);
          MPI_Bcast(result, count, CheckedTask<T>::mpi_type(), 0, MPI_COMM_WORLD);
        });
  }
  static bool is_reduce_broadcast(const std::string& schedule) { return schedule.starts_with("reduce_broadcast"); }

  void add(const std::string& method, const std::string& schedule) {
    const sf_call call = task_.call_by(method);
    const Expected<T>& expected = task_.expected_of(method, call);
    Buffers<T>& buffers = task_.buffers();
    std::vector<std::size_t> rivals = rivals_;
    rivals.push_back(wider_of_.at(method)->place);
    if (is_reduce_broadcast(schedule)) rivals.push_back(reduce_and_broadcast_);
    const std::string name = method + " by " + schedule;
    if (schedule == "auto")
      ways_.add(way_of(method, schedule, "allreduce", rivals, call),
                task_.checked(name, buffers, expected, [&buffers, call] {
                  bench::check(sf_reduce(&call, buffers.mine.data(), nullptr, buffers.result.data(), MPI_COMM_WORLD));
                }));
    add_plan(method, schedule, rivals);
    if (schedule == "auto" && ranks_share_memory()) add_in_memory_of_the_library(method, expected, rivals);
  }

  /// Adds a plan without further candidates. Its rival is the MPI library's call for the operator.
  void add_plan(const std::string& method, const std::string& schedule) { add_plan(method, schedule, rivals_); }

  Contest measure(int rounds, const std::string& interface) const {
    return ways_.measure(task_.labels(), rounds, interface);
  }

 private:
  using OurBuffers = Buffers<T, Allocator<T>>;
  struct Wider {
    Buffers<T> buffers;
    std::size_t place = 0;
  };

  void add_plan(const std::string& method, const std::string& schedule, const std::vector<std::size_t>& rivals) {
    const sf_call call = task_.call_by(method);
    Buffers<T>& buffers = task_.buffers();
    const auto plan = std::make_shared<ShortPlan>(call, schedule);
    ways_.add(way_of(method, schedule, "plan", rivals, call),
              task_.checked(
                  method + " by " + schedule, buffers, task_.expected_of(method, call),
                  [&buffers, plan] { plan->run(buffers.mine.data(), buffers.result.data()); }, [plan] { plan->bind(); },
                  [plan] { plan->free(); }));
  }

  static bool ranks_share_memory() {
    sf_group* group = nullptr;
    bench::check(sf_group_of(MPI_COMM_WORLD, &group));
    return std::string_view(sf_group_transport(group)) == "shared" && rank_count_of_world() > 1;
  }

  /// Adds the plan of `auto` with row and result in memory from sf_allocate, so that ranks use them in place.
  void add_in_memory_of_the_library(const std::string& method, const Expected<T>& expected,
                                    const std::vector<std::size_t>& rivals) {
    const Buffers<T>& other = task_.buffers();
    if (ours_.mine.empty())
      ours_ = {{other.mine.begin(), other.mine.end()}, {other.result.begin(), other.result.end()}, other.near};
    const auto plan = std::make_shared<ShortPlan>(task_.call_by(method), "auto");
    ways_.add(way_of(method, "auto", "plan, sf_allocate", rivals, task_.call_by(method)),
              task_.checked(
                  method + " with schedule auto, in memory allocated by sf_allocate", ours_, expected,
                  [this, plan] { plan->run(ours_.mine.data(), ours_.result.data()); }, [plan] { plan->bind(); },
                  [plan] { plan->free(); }));
  }

  static std::string name_of_mpi(const std::string& op, const std::string& times = "") {
    return "MPI_Allreduce(" + times + CheckedTask<T>::mpi_type_name() + ", " + op + ")";
  }

  std::size_t add_mpi(Buffers<T>& buffers, MPI_Op op, const std::string& name) {
    return add_mpi(buffers, name, [op](const T* row, T* result, int count) {
      MPI_Allreduce(row, result, count, CheckedTask<T>::mpi_type(), op, MPI_COMM_WORLD);
    });
  }
  /// Makes a rival. Several rows are first added up in a loop.
  template <class Reduce>
  std::size_t add_mpi(Buffers<T>& buffers, const std::string& name, Reduce reduce) {
    const std::size_t count = buffers.result.size();
    const bool has_one_row = buffers.mine.size() == count;
    const Wanted wanted = task_.task().op.wanted;
    const auto sums = std::make_shared<std::vector<T>>(has_one_row ? 0 : count);
    const std::string full_name = has_one_row ? name : "a loop, " + name;
    return ways_.add_rival(full_name, task_.checked(full_name, buffers, buffers.near, [=, &buffers] {
      if (!has_one_row) combine_rows<T>(wanted, buffers.mine, *sums);
      reduce(has_one_row ? buffers.mine.data() : sums->data(), buffers.result.data(), static_cast<int>(count));
    }));
  }

  /// Adds a rival that adds ones, so that the sums are the number of ranks.
  void add_wider(Wider& wider, std::size_t count) {
    const auto result = static_cast<T>(task_.task().op.wanted == Wanted::sum ? rank_count_of_world() : 1);
    wider.buffers = {std::vector<T>(count, 1), std::vector<T>(count), {std::vector<T>(count, result)}};
    wider.place = add_mpi(
        wider.buffers, task_.built_in_op(),
        name_of_mpi(task_.built_in_name(), std::to_string(count) + " x ") + ", with as many bytes as a partial result");
  }

  CheckedTask<T> task_;
  OurBuffers ours_;
  std::map<std::size_t, Wider> wider_;
  std::map<std::string, const Wider*> wider_of_;
  std::vector<std::size_t> rivals_;
  std::size_t reduce_and_broadcast_ = 0;
  Ways ways_;
};

}  // namespace steadfold::bench
