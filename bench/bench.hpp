// The benchmarks. Each measures candidates and their rivals in the same run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace steadfold::command {
class Job;
}

namespace steadfold::bench {

struct Measurement;

/// Machine, compiler, MPI library and date. A figure means nothing without them.
nlohmann::ordered_json environment();

/// A function that benchmarks of one process call after every contest, with the measurements so far and the final
/// number of contests.
using Told = std::function<void(const Measurement& so_far, std::size_t contests)>;

struct LocalOptions {
  std::vector<std::size_t> sizes = {1000, 100000, 10000000};
  std::vector<std::string> types = {"f64"};
  std::vector<unsigned> threads = {1};
  int rounds = 15;
  bool by_prefetch = false;
};
/// One process: builders beside plain loops over the same memory. With `by_prefetch`, each builder is measured with
/// every target of prefetching.
Measurement local(const LocalOptions& options, const Told& told);

struct ArraysOptions {
  std::vector<std::size_t> points = {1000, 100000};
  int rounds = 15;
};
/// One process: sums of thirty fields of each number of points, with a halo, masked and weighted or not, and of as many
/// rows of thirty columns, beside plain loops.
Measurement arrays(const ArraysOptions& options, const Told& told);

struct LabelsOptions {
  std::vector<std::size_t> sizes = {100'000, 1'000'000};
  std::vector<std::size_t> groups = {10, 1000, 10'000, 100'000};
  int rounds = 15;
};
/// One process: sums by label beside a plain loop. Labels are random or sorted. The numbers include some with widely
/// different exponents.
Measurement labels(const LabelsOptions& options, const Told& told);

struct AllreduceOptions {
  std::vector<std::size_t> counts = {1, 100, 10000};
  std::vector<std::string> types = {"f64"};
  std::vector<std::string> operators = {"sum"};
  std::vector<std::string> methods = {"tree", "exact", "binned", "plain"};
  std::vector<std::string> schedules = {};  // empty: auto and all rows
  std::string interface = {};  // the network interface whose bytes are counted; empty: bytes are not counted
  std::size_t rows = 1;        // number of rows of every rank; rivals first add them in a loop
  int rounds = 15;
  bool is_choice = false;  // `bench auto`: only plans, of all schedules that `auto` could take, for rows_of_choices
};
/// All ranks of MPI_COMM_WORLD: one-shot calls and plans of every schedule against the MPI library's own MPI_Allreduce.
/// Throws Failure on all ranks if a result is wrong.
Measurement allreduce(const AllreduceOptions& options, const command::Job& job);

struct BundleOptions {
  std::vector<std::size_t> counts = {1, 3, 30};
  int rounds = 15;
};
/// All ranks of MPI_COMM_WORLD: sums of one double per rank in one bundle, against one MPI_Allreduce for each sum.
Measurement bundle(const BundleOptions& options);

struct FieldsOptions {
  std::vector<std::size_t> points = {1000, 100000};
  std::vector<std::string> methods = {"exact", "binned"};
  int rounds = 15;
};
/// All ranks of MPI_COMM_WORLD: sums of thirty fields, with each number of points in the whole job, with one call and
/// with a plan, against loops with an MPI_Allreduce, and against vectors of integers in two reductions. Throws Failure
/// on all ranks if the vectors of integers give a wrong sum.
Measurement fields(const FieldsOptions& options, const command::Job& job);

struct InterposeOptions {
  std::vector<std::size_t> counts = {1, 255, 10000, 1000000};
  std::string method = "tree";  // the method of the interposer's sums
  int rounds = 15;
};
/// All ranks of MPI_COMM_WORLD, started with the interposer: calls of the interposer against calls of the MPI library.
Measurement interpose(const InterposeOptions& options);

struct ReduceOptions {
  std::vector<std::size_t> counts = {1000, 100000};
  std::vector<std::string> schedules = {"binomial"};
  std::vector<std::string> methods = {"tree", "exact", "plain"};
  std::string distribution = "upper";  // the name of `spread`
  /// The number of elements of each rank, from the number of elements and of ranks. Throws Failure.
  std::function<std::vector<std::uint64_t>(std::uint64_t, int)> spread = {};
  std::string reproblas = {};  // the folder of ReproBLAS if it is measured, too
  int rounds = 15;
};
/// All ranks of MPI_COMM_WORLD: distributed elements summed to rank 0 by plans, against a loop and MPI_Reduce. Throws
/// Failure on all ranks.
Measurement reduce(const ReduceOptions& options, const command::Job& job);

}  // namespace steadfold::bench
