// One job's work and measurements; see job.hpp.
#include "job.hpp"

#include <algorithm>

#include "solve.hpp"

namespace solver {
namespace {

using example::Record;

/// One kind of scalar products: its result and its time.
struct Contestant {
  Dot dot;
  example::Fingerprint& fingerprint;
  Solution solution = {};
  std::vector<double> seconds = {};
};

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

Record to_json(const Contestant& contestant, MPI_Comm comm) {
  std::vector<double> seconds = contestant.seconds;
  MPI_Allreduce(MPI_IN_PLACE, seconds.data(), static_cast<int>(seconds.size()), MPI_DOUBLE, MPI_MAX, comm);
  const Solution& solution = contestant.solution;
  return {{"iterations", solution.iterations}, {"converged", solution.converged},
          {"residual", solution.residual},     {"residual_bits", example::to_bits(solution.residual)},
          {"residuals", solution.residuals},   {"seconds", median(seconds)}};
}

}  // namespace

const char* name_of(Algorithm algorithm) { return algorithm == Algorithm::cg ? "cg" : "pipelined"; }

Record run_job(const Task& task, const example::Ranks& ranks) {
  const Stencil matrix(task.problem, deal(task.problem, task.planes, ranks), ranks.comm, task.threads);
  const Field f = matrix.source();
  example::Fingerprint plain, steadfold;
  std::vector<Contestant> contestants;
  for (const Dot dot : task.dots) contestants.push_back({dot, dot == Dot::plain ? plain : steadfold});
  // They take turns, so that a disturbance hits all of them.
  for (unsigned repetition = 0; repetition < task.repetitions; ++repetition) {
    for (Contestant& contestant : contestants) {
      MPI_Barrier(ranks.comm);
      const Dots dots{contestant.dot, ranks.comm, task.threads, contestant.fingerprint};
      contestant.solution = solve(task.algorithm, matrix, f, task.goal, dots);
      contestant.seconds.push_back(contestant.solution.seconds);
    }
  }

  Record record = {{"application", "solver"},           {"ranks", ranks.count},
                   {"threads", task.threads},           {"points", task.problem.points},
                   {"contrast", task.problem.contrast}, {"algorithm", name_of(task.algorithm)},
                   {"tolerance", task.goal.tolerance},  {"mpi", sf_mpi_library()}};
  for (const Contestant& contestant : contestants)
    record["dots"][name_of(contestant.dot)] = to_json(contestant, ranks.comm);
  const bool has_plain = std::find(task.dots.begin(), task.dots.end(), Dot::plain) != task.dots.end();
  const bool has_steadfold = task.dots.size() > (has_plain ? 1U : 0U);
  record["fingerprint_plain"] = has_plain ? Record(plain.text()) : Record(nullptr);
  record["fingerprint_steadfold"] = has_steadfold ? Record(steadfold.text()) : Record(nullptr);
  return record;
}

}  // namespace solver
