// One contest of allreduces that are started, and waited for later: beside MPI_Iallreduce, with and without a
// computation meanwhile.
// Source: [S4] for split-phase allreduce; ours for what is hidden.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "bench/checked_task.hpp"
#include "bench/statistics.hpp"

namespace steadfold::bench {

/// A computation that lasts as long as it is told if it has a core to itself: multiply-adds that wait for each other.
class Computation {
 public:
  void compute(std::size_t steps) {
    for (std::size_t i = 0; i < steps; ++i) value_ = value_ * 0.999999 + 1e-6;
    keep(value_);
  }
  /// How many steps take so many seconds: the most of a few tries.
  std::size_t steps_for(double seconds) {
    constexpr std::size_t steps = 20000;
    double least = 1;
    for (int i = 0; i < 20; ++i) {
      const auto before = std::chrono::steady_clock::now();
      compute(steps);
      least = std::min(least, std::chrono::duration<double>(std::chrono::steady_clock::now() - before).count());
    }
    return std::max<std::size_t>(1, static_cast<std::size_t>(seconds / least * static_cast<double>(steps)));
  }

 private:
  double value_ = 0.5;
};

/// What is done between start and wait: as much again as the communication takes, in pieces with a test after each.
struct Pieces {
  std::size_t count = 0;
  std::size_t steps = 0;  // of the computation, in each
};

/// One contest: start and wait, with and without a computation, by MPI and by plans.
template <class T>
class SplitRace {
 public:
  SplitRace(const Task& task, const Job& job, double poll_seconds) : task_(task, job), poll_seconds_(poll_seconds) {
    op_ = task.op.user ? task_.users_op() : task_.built_in_op();
    const std::string name = "MPI_Iallreduce(" + CheckedTask<T>::mpi_type_name() + ", " +
                             (task.op.user ? "a user operator" : task_.built_in_name()) + ")";
    pieces_ = pieces_for(seconds_of_mpi());
    waits_ = add_mpi(name + ", MPI_Wait", {});
    computes_ = ways_.add_rival("the computation alone", candidate_of([this] { compute_pieces([] {}); }));
    overlaps_ = add_mpi(name + ", computation with MPI_Test, MPI_Wait", pieces_);
    ways_.overlaps(overlaps_, {waits_, computes_});
  }

  void add(const std::string& method, const std::string& schedule) {
    const sf_call call = task_.call_by(method);
    const std::size_t waits = add_plan(method, schedule, call, "start, wait", waits_, {});
    add_tested_plan(method, schedule, call);
    const std::size_t overlaps = add_plan(method, schedule, call, "start, computation, wait", overlaps_, pieces_);
    ways_.overlaps(overlaps, {waits, computes_});
  }

  Contest measure(int rounds) const { return ways_.measure(task_.labels(), rounds); }

 private:
  template <class Test>
  void compute_pieces(Test test) {
    for (std::size_t i = 0; i < pieces_.count; ++i) {
      computation_.compute(pieces_.steps);
      test();
    }
  }

  void reduce_by_mpi(const Pieces& pieces) {
    MPI_Request request = MPI_REQUEST_NULL;
    Buffers<T>& buffers = task_.buffers();
    MPI_Iallreduce(buffers.mine.data(), buffers.result.data(), static_cast<int>(buffers.mine.size()),
                   CheckedTask<T>::mpi_type(), op_, MPI_COMM_WORLD, &request);
    if (pieces.count > 0) {
      compute_pieces([&request] {
        int done = 0;
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
      });
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }

  /// How long a call by MPI takes on the slowest rank; the computation is cut by it. A median: other work on the
  /// machine makes few calls much longer.
  double seconds_of_mpi() {
    constexpr std::size_t warm_up = 5;
    std::vector<double> seconds;
    MPI_Barrier(MPI_COMM_WORLD);
    for (std::size_t i = 0; i < warm_up + 20; ++i) {
      const auto before = std::chrono::steady_clock::now();
      reduce_by_mpi({});
      seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - before).count());
    }
    return all_ranks_together().greatest(quantile({seconds.begin() + warm_up, seconds.end()}, 0.5));
  }

  /// Twice as long as the communication, with a test at least every `poll_seconds_` and at least four of them.
  Pieces pieces_for(double communication) {
    const double all = 2 * communication;
    const double piece = std::min(poll_seconds_, all / 4);
    const double steps = static_cast<double>(computation_.steps_for(piece));
    return {.count = static_cast<std::size_t>(std::ceil(all / piece)),
            .steps = static_cast<std::size_t>(all_ranks_together().greatest(steps))};
  }

  std::size_t add_mpi(const std::string& name, const Pieces& pieces) {
    Buffers<T>& buffers = task_.buffers();
    return ways_.add_rival(name, task_.checked(name, buffers, buffers.near, [this, pieces] { reduce_by_mpi(pieces); }));
  }

  std::size_t add_plan(const std::string& method, const std::string& schedule, const sf_call& call,
                       const std::string& way, std::size_t rival, const Pieces& pieces) {
    Buffers<T>& buffers = task_.buffers();
    const auto plan = std::make_shared<ShortPlan>(call, schedule);
    const auto reduce = [this, plan, pieces, &buffers] {
      plan->start(buffers.mine.data(), buffers.result.data());
      if (pieces.count > 0) compute_pieces([&plan] { plan->test(); });
      plan->wait();
    };
    return ways_.add(way_of(method, schedule, way, {rival}, call),
                     task_.checked(
                         method + " by " + schedule, buffers, task_.expected_of(method, call), reduce,
                         [plan] { plan->bind(); }, [plan] { plan->free(); }));
  }

  /// Tests until it is done, and counts the tests.
  void add_tested_plan(const std::string& method, const std::string& schedule, const sf_call& call) {
    Buffers<T>& buffers = task_.buffers();
    const auto plan = std::make_shared<ShortPlan>(call, schedule);
    const auto tests = std::make_shared<std::size_t>(0);
    const auto reduce = [plan, tests, &buffers] {
      plan->start(buffers.mine.data(), buffers.result.data());
      bool is_done = false;
      for (; !is_done; ++*tests) is_done = plan->test();
    };
    Candidate candidate = task_.checked(
        method + " by " + schedule, buffers, task_.expected_of(method, call), reduce, [plan] { plan->bind(); },
        [plan] { plan->free(); });
    candidate.tests = [tests] { return static_cast<double>(*tests); };
    ways_.add(way_of(method, schedule, "start, tests", {waits_}, call), std::move(candidate));
  }

  CheckedTask<T> task_;
  double poll_seconds_;
  MPI_Op op_ = MPI_OP_NULL;
  Computation computation_;
  Pieces pieces_;
  Ways ways_;
  std::size_t waits_ = 0;
  std::size_t computes_ = 0;
  std::size_t overlaps_ = 0;
};

}  // namespace steadfold::bench
