// A rank dies by SIGKILL while a run, a call or a team's run is under way. The others wait with a timeout, say what
// came of it, one line per rank or worker, and leave. killed_test.py starts it and reads the lines.
#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "steadfold/memory.hpp"
#include "steadfold/mpi.hpp"
#include "steadfold/started.hpp"
#include "steadfold/team.hpp"

namespace {

using Clock = std::chrono::steady_clock;
using Milliseconds = std::chrono::duration<double, std::milli>;

struct Job {
  std::chrono::milliseconds timeout;
  int rank = 0;
  int size = 0;

  /// All ranks come so far; then the one in the middle dies, in the others' first wait.
  void die_in_the_middle() const {
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank != size / 2) return;
    std::this_thread::sleep_for(timeout / 3);
    std::raise(SIGKILL);
  }

  /// What two waits for what was started come to, and the milliseconds that each takes.
  template <class Started>
  void wait_for(const std::string& who, Started& started) const {
    std::string line = who + ":";
    for (int wait = 0; wait < 2; ++wait) {
      const auto before = Clock::now();
      const char* outcome = "timeout";
      try {
        if (started.wait_for(timeout)) outcome = "done";
      } catch (const steadfold::Error&) {
        outcome = "failed";
      }
      line += std::string(" ") + outcome + " " + std::to_string(Milliseconds(Clock::now() - before).count());
    }
    line += "\n";
    if (write(STDOUT_FILENO, line.data(), line.size()) < 0) std::_Exit(EXIT_FAILURE);
  }
  std::string name() const { return "rank " + std::to_string(rank); }
};

/// By messages, or, without a schedule, by posts in the node's memory.
void run_plan(const Job& job, const std::string& schedule) {
  const std::array<double, 3> rows = {1, 2, static_cast<double>(job.rank)};
  double result = 0;
  steadfold::Plan<double> plan(steadfold::plus, rows.size(), MPI_COMM_WORLD,
                               {.method = steadfold::tree(), .schedule = schedule});
  plan.run(rows);
  job.die_in_the_middle();
  plan.start(rows, {&result, 1});
  job.wait_for(job.name(), plan);
  std::_Exit(EXIT_SUCCESS);  // MPI_Finalize would wait for the dead
}

/// Wide rows, which the ranks of a node read where they stand.
void run_in_place(const Job& job) {
  constexpr std::size_t columns = 60000;
  auto rows = steadfold::allocate<double>(columns), results = steadfold::allocate<double>(columns);
  std::ranges::fill(rows, 1.0);
  auto plan = steadfold::Plan<double>::of_vectors(steadfold::plus, columns, MPI_COMM_WORLD);
  for (int run = 0; run < 2; ++run) plan.run(rows, results);
  job.die_in_the_middle();
  plan.start(rows, results);
  job.wait_for(job.name(), plan);
  std::_Exit(EXIT_SUCCESS);
}

void start_call(const Job& job) {
  const std::array<double, 3> rows = {1, 2, static_cast<double>(job.rank)};
  steadfold::sum(rows, MPI_COMM_WORLD);
  job.die_in_the_middle();
  auto sum = steadfold::start(steadfold::plus, rows, MPI_COMM_WORLD);
  job.wait_for(job.name(), sum);
  std::_Exit(EXIT_SUCCESS);
}

/// Two workers of every rank; worker 0 is this thread, which alone may call MPI.
void run_team(const Job& job) {
  const steadfold::Team team(MPI_COMM_WORLD, 2);
  std::atomic<bool> has_other_waited = false;
  const auto work = [&](int worker) {
    const auto member = team[worker];
    const std::array<double, 3> rows = {1, 2, static_cast<double>(job.rank)};
    double result = 0;
    steadfold::Plan<double> plan(steadfold::plus, rows.size(), member);
    plan.run(rows);
    if (worker == 0) job.die_in_the_middle();
    plan.start(rows, {&result, 1});
    job.wait_for(job.name() + "." + std::to_string(worker), plan);
    if (worker == 1) has_other_waited = true;
    while (!has_other_waited) plan.wait_for(std::chrono::milliseconds(1));  // it may need this thread for its messages
    if (worker == 0) std::_Exit(EXIT_SUCCESS);
  };
  std::thread other(work, 1);
  work(0);
  other.join();  // not reached
}

}  // namespace

int main(int argc, char** argv) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  if (argc != 3) return EXIT_FAILURE;
  const std::string subject = argv[1];
  Job job{.timeout = std::chrono::milliseconds(std::stoi(argv[2]))};
  MPI_Comm_rank(MPI_COMM_WORLD, &job.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &job.size);
  if (subject == "in_place") run_in_place(job);
  if (subject == "started") start_call(job);
  if (subject == "team") run_team(job);
  run_plan(job, subject == "posts" ? "" : subject);
}
