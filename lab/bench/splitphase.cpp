// Allreduces in two phases, beside MPI_Iallreduce. Source: [S4] for two phases.
#include "bench/allreduces.hpp"
#include "lab_bench.hpp"
#include "split_race.hpp"

namespace steadfold::bench {
namespace {

template <class T>
Contest measure(const Task& task, const SplitphaseOptions& options, const Job& job) {
  SplitRace<T> race(task, job, options.poll_seconds);
  for (const auto& [method, schedule] : pairs_for(task.op, named_type<T>().name, options.allreduce))
    race.add(method, schedule);
  return race.measure(options.allreduce.rounds);
}

}  // namespace

Measurement splitphase(const SplitphaseOptions& options, const Job& job) {
  return measure_all(options.allreduce, [&](const std::string& type, const Task& task) {
    if (type == "f64") return measure<double>(task, options, job);
    return type == "f32" ? measure<float>(task, options, job) : measure<int>(task, options, job);
  });
}

}  // namespace steadfold::bench
