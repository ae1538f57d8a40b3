// The benchmarks. Each measures candidates and their rivals in the same run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "program/methods.hpp"

namespace steadfold::command {
class Job;
}

namespace steadfold::bench {

struct Measurement;

/// Returns machine, compiler, MPI library and date. A figure means nothing without these facts.
nlohmann::ordered_json environment();

/// A function that benchmarks of one process call after every comparison, with the measurements so far and the final
/// number of comparisons.
using Told = std::function<void(const Measurement& so_far, std::size_t contests)>;

struct LocalOptions {
  std::vector<std::size_t> sizes = {1000, 100000, 10000000};
  std::vector<std::string> types = {"f64"};
  std::vector<unsigned> threads = {1};
  int rounds = 15;
  bool by_prefetch = false;
};
/// Measures builders in one process, compared with plain loops over the same memory. With `by_prefetch`, each builder
/// is measured with every target of prefetching.
Measurement local(const LocalOptions& options, const Told& told);

struct ArraysOptions {
  std::vector<std::size_t> points = {1000, 100000};
  int rounds = 15;
};
/// Measures sums of thirty fields in one process, compared with plain loops: fields of each number of points, with a
/// halo, masked and weighted or not, and the same number of rows of thirty columns.
Measurement arrays(const ArraysOptions& options, const Told& told);

struct LabelsOptions {
  std::vector<std::size_t> sizes = {100'000, 1'000'000};
  std::vector<std::size_t> groups = {10, 1000, 10'000, 100'000};
  int rounds = 15;
};
/// Measures sums by label in one process, compared with a plain loop. Labels are random or sorted. Some of the numbers
/// have widely different exponents.
Measurement labels(const LabelsOptions& options, const Told& told);

struct AllreduceOptions {
  std::vector<std::size_t> counts = {1, 100, 10000};
  std::vector<std::string> types = {"f64"};
  std::vector<std::string> operators = {"sum"};
  std::vector<std::string> methods = command::built_methods();
  std::vector<std::string> schedules = {};  // names of schedules; empty: auto and all rows
  std::string interface = {};  // name of the network interface whose bytes are counted; empty: bytes are not counted
  std::size_t rows = 1;        // number of rows of every rank; rivals first add them in a loop
  int rounds = 15;
  // For `bench auto`: measure only plans, of all schedules that `auto` could take, for rows_of_choices.
  bool is_choice = false;
};
/// Measures allreduces over all ranks of MPI_COMM_WORLD: one-shot calls and plans of every schedule, compared with
/// MPI_Allreduce of the MPI library. Throws Failure on all ranks if a result is wrong.
Measurement allreduce(const AllreduceOptions& options, const command::Job& job);

struct BundleOptions {
  std::vector<std::size_t> counts = {1, 3, 30};
  int rounds = 15;
};
/// Measures sums of one double per rank over all ranks of MPI_COMM_WORLD: in one bundle, compared with one
/// MPI_Allreduce for each sum.
Measurement bundle(const BundleOptions& options);

struct FieldsOptions {
  std::vector<std::size_t> points = {1000, 100000};
  std::vector<std::string> methods = command::methods_rounding_once();
  int rounds = 15;
};
/// Measures sums of thirty fields over all ranks of MPI_COMM_WORLD, with each number of points in the whole job: with
/// one call and with a plan, compared with loops and an MPI_Allreduce, and with vectors of integers in two reductions.
/// Throws Failure on all ranks if the vectors of integers give a wrong sum.
Measurement fields(const FieldsOptions& options, const command::Job& job);

struct InterposeOptions {
  std::vector<std::size_t> counts = {1, 255, 10000, 1000000};
  std::string method = "tree";  // the method of the interposer for sums
  int rounds = 15;
};
/// Measures calls of the interposer over all ranks of MPI_COMM_WORLD, which were started with the interposer, compared
/// with calls of the MPI library.
Measurement interpose(const InterposeOptions& options);

struct ReduceOptions {
  std::vector<std::size_t> counts = {1000, 100000};
  std::vector<std::string> schedules = {"binomial"};
  std::vector<std::string> methods = {"tree", "exact", "plain"};
  std::string distribution = "upper";  // name of the rule of distribution, for `spread`
  /// Returns the number of elements of each rank, from the number of elements and of ranks. Throws Failure.
  std::function<std::vector<std::uint64_t>(std::uint64_t, int)> spread = {};
  std::string reproblas = {};  // path of the folder of ReproBLAS, if it is measured, too
  int rounds = 15;
};
/// Measures sums of distributed elements to rank 0 over all ranks of MPI_COMM_WORLD: plans, compared with a loop and
/// MPI_Reduce. Throws Failure on all ranks.
Measurement reduce(const ReduceOptions& options, const command::Job& job);

}  // namespace steadfold::bench
