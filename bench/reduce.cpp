// Measures sums of distributed elements to rank 0: plans, compared with a local loop and MPI_Reduce over the same
// elements. Source: Stelz 2022, chapter 4, which compares with a loop and MPI_Allreduce.
#include <fmt/format.h>
#include <mpi.h>

#include <cmath>
#include <memory>
#include <numeric>
#include <optional>

#include "program/job.hpp"
#include "program/methods.hpp"
#include "program/site_likelihoods.hpp"
#include "ranks.hpp"
#include "reproblas.hpp"
#include "schedule/registry.hpp"
#include "steadfold/mpi.hpp"

namespace steadfold::bench {
namespace {

/// Returns this rank's elements, if each rank has the given number.
std::vector<double> own_share(const std::vector<std::uint64_t>& counts, int rank) {
  const auto own = counts.begin() + rank;
  const std::uint64_t start = std::accumulate(counts.begin(), own, std::uint64_t{0});
  std::vector<double> mine(*own);
  for (std::size_t i = 0; i < mine.size(); ++i) mine[i] = command::studies::site_likelihood(start + i);
  return mine;
}

/// The candidates of one size and the memory that they use.
struct Size {
  std::vector<double> mine;
  double result = 0;
  std::vector<std::unique_ptr<Plan<double>>> plans;
  Ways ways = {};
  double loop() const { return std::accumulate(mine.begin(), mine.end(), 0.0); }
};

void add_library(Size& size) {
  size.ways.add_rival("std::accumulate, MPI_Reduce(MPI_DOUBLE, MPI_SUM)", candidate_of([&size] {
                        const double sum = size.loop();
                        MPI_Reduce(&sum, &size.result, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
                      }));
  size.ways.add({"mpi", "mpi", "MPI_Allreduce", true}, candidate_of([&size] {
                  const double sum = size.loop();
                  MPI_Allreduce(&sum, &size.result, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
                }));
}

void add_plans(Size& size, const ReduceOptions& options) {
  for (const std::string& schedule : options.schedules) {
    for (const std::string& method : options.methods) {
      const Method named = command::method_named(method);
      if (!schedule::is_policy(schedule) &&
          schedule::refusal(*schedule::parse(schedule).algorithm, schedule::Collective::reduce, 0,
                            command::merging_named(method), schedule::OperatorKind::commutative))
        continue;
      const Options of_plan{.method = named,
                            .layout = Layout::contiguous(size.mine.size(), MPI_COMM_WORLD),
                            .root = 0,
                            .schedule = schedule};
      size.plans.push_back(std::make_unique<Plan<double>>(plus, size.mine.size(), MPI_COMM_WORLD, of_plan));
      Plan<double>& plan = *size.plans.back();
      size.ways.add({method, schedule, "plan"}, candidate_of([&size, &plan] { size.result = plan.run(size.mine); }));
    }
  }
}

/// ReproBLAS' partial sums as a type and an operator of MPI. Only one object may exist at a time, because MPI passes no
/// context to an operator.
class ReproBlasInMpi {
 public:
  explicit ReproBlasInMpi(const ReproBlas& library) : library_(library) {
    in_use = &library_;
    MPI_Type_contiguous(library_.partial_size(), MPI_DOUBLE, &type_);
    MPI_Type_commit(&type_);
    MPI_Op_create(merge, 1, &op_);
  }
  ~ReproBlasInMpi() {
    MPI_Op_free(&op_);
    MPI_Type_free(&type_);
  }
  ReproBlasInMpi(const ReproBlasInMpi&) = delete;
  ReproBlasInMpi& operator=(const ReproBlasInMpi&) = delete;

  /// Returns the sum of all ranks' values on rank 0, and 0 on the other ranks.
  double reduce(std::span<const double> mine) {
    library_.sum(mine, partial_.data());
    MPI_Reduce(partial_.data(), total_.data(), 1, type_, op_, 0, MPI_COMM_WORLD);
    return rank_in_world() == 0 ? library_.value_of(total_.data()) : 0;
  }

 private:
  static void merge(void* from, void* into, int* count, MPI_Datatype* /*type*/) {
    for (int i = 0; i < *count; ++i) {
      const int at = i * in_use->partial_size();
      in_use->merge(static_cast<const double*>(from) + at, static_cast<double*>(into) + at);
    }
  }
  static inline const ReproBlas* in_use = nullptr;

  ReproBlas library_;
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
  MPI_Op op_ = MPI_OP_NULL;
  std::vector<double> partial_ = std::vector<double>(static_cast<std::size_t>(library_.partial_size()));
  std::vector<double> total_ = partial_;
};

/// Adds ReproBLAS as a rival. Throws Failure if a sum of the loaded ReproBLAS is wrong.
void add_reproblas(Size& size, ReproBlasInMpi& reproblas, const command::Job& job) {
  const double loop = size.loop();
  double about = 0;
  MPI_Reduce(&loop, &about, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  const double sum = reproblas.reduce(size.mine);
  job.together([&] {
    if (job.rank() == 0 && !(std::abs(sum - about) <= 1e-9 * std::abs(about)))
      throw command::Failure(fmt::format(
          "the library of --reproblas computes a wrong sum ({}, but a loop computes {}), build ReproBLAS 2.1 again",
          sum, about));
  });
  size.ways.add({"reproblas", "mpi", "MPI_Reduce"},
                candidate_of([&size, &reproblas] { size.result = reproblas.reduce(size.mine); }));
}

Contest measure(std::size_t count, const ReduceOptions& options, ReproBlasInMpi* reproblas, const command::Job& job) {
  std::vector<std::uint64_t> counts;
  job.together([&] { counts = options.spread(count, job.rank_count()); });
  Size size{.mine = own_share(counts, job.rank())};
  add_library(size);
  if (reproblas != nullptr) add_reproblas(size, *reproblas, job);
  add_plans(size, options);
  return size.ways.measure({{"operator", "sum"}, {"count", count}, {"distribution", options.distribution}},
                           options.rounds);
}

}  // namespace

Measurement reduce(const ReduceOptions& options, const command::Job& job) {
  Measurement measurement{.environment = environment(), .contests = {}};
  std::optional<ReproBlasInMpi> reproblas;
  if (!options.reproblas.empty()) job.together([&] { reproblas.emplace(ReproBlas(options.reproblas)); });
  for (const std::size_t count : options.counts)
    measurement.contests.push_back(measure(count, options, reproblas ? &*reproblas : nullptr, job));
  return measurement;
}

}  // namespace steadfold::bench
