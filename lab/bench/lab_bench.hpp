// The benchmarks of the laboratory, beside those of bench/bench.hpp.
#pragma once

#include <string>
#include <vector>

#include "bench/bench.hpp"

namespace steadfold::bench {

struct SplitphaseOptions {
  AllreduceOptions allreduce = {
      .counts = {1, 255}, .methods = {"tree", "exact", "plain"}, .schedules = {"auto", "recursive_doubling", "bruck"}};
  double poll_seconds = 50e-6;  // at most this long without a test while something is computed
};
/// All ranks of MPI_COMM_WORLD: allreduces that are started and waited for later against MPI_Iallreduce, by themselves
/// and with a computation meanwhile. Throws Failure on all ranks if a result is wrong.
Measurement splitphase(const SplitphaseOptions& options, const command::Job& job);

struct SharedOptions {
  std::vector<std::size_t> counts = {1, 255, 10000, 1000000};
  std::vector<std::string> methods = {"tree", "exact", "plain"};
  std::vector<std::string> schedules = {"auto"};
  std::vector<unsigned> threads = {2};
  int rounds = 15;
};
/// Pinned threads of this process: allreduces by one-shot calls and plans of a team against a bare exchange of cache
/// lines, an OpenMP reduction, and atomics with a barrier. Throws Failure if a result is wrong.
Measurement shared(const SharedOptions& options, const Told& told);

/// All ranks of MPI_COMM_WORLD, each with so many pinned threads: teams of the threads of all ranks against barriers of
/// the threads around an MPI_Allreduce by one of them. Throws Failure if a result is wrong.
Measurement teams(const SharedOptions& options);

}  // namespace steadfold::bench
