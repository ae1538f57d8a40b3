// Measurements that are always taken beside their rivals: candidates in turn, many short samples, medians and
// quartiles. Source: [S1] and Hoefler & Belli 2015 on honest benchmarking.
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

namespace steadfold::bench {

using Json = nlohmann::ordered_json;

struct Candidate {
  std::string name;
  std::function<void()> run;
};

/// Seconds a call.
struct Timing {
  double median = 0;
  double lower_quartile = 0;
  double upper_quartile = 0;
};

/// How the ranks of a job measure together; a single process needs none of it.
struct Together {
  std::function<void()> barrier = [] {};
  std::function<double(double)> slowest = [](double seconds) { return seconds; };
};

/// Times every candidate once a round, `rounds` rounds, each sample long enough for the clock; the order turns from
/// round to round, so that none always follows the same neighbour.
std::vector<Timing> interleave(std::span<const Candidate> candidates, int rounds, const Together& together = {});

/// Machine, compiler, MPI library and date: what a figure means nothing without.
Json environment();

struct LocalOptions {
  std::vector<std::size_t> sizes = {1000, 100000, 10000000};
  std::vector<std::string> types = {"f64"};
  int rounds = 15;
};
/// One process: builders against plain loops over the same memory.
Json local(const LocalOptions& options);

struct AllreduceOptions {
  std::vector<std::size_t> counts = {1, 100, 10000};
  std::vector<std::string> methods = {"exact", "tree", "plain"};
  int rounds = 15;
};
/// All ranks of MPI_COMM_WORLD: one-shot calls and plans of every schedule against the MPI library's own MPI_Allreduce.
Json allreduce(const AllreduceOptions& options);

struct FieldOptions {
  std::vector<std::size_t> counts = {1, 3, 30};
  int rounds = 15;
};
/// All ranks of MPI_COMM_WORLD: so many sums of a double a rank in one bundle, against an MPI_Allreduce for each.
Json bundle(const FieldOptions& options);

struct ReduceOptions {
  std::vector<std::size_t> counts = {1000, 100000};
  std::vector<std::string> schedules = {"binomial"};
  std::vector<std::string> methods = {"tree", "exact", "plain"};
  int rounds = 15;
};
/// All ranks of MPI_COMM_WORLD: so many distributed elements summed to rank 0 by plans, against a loop and MPI_Reduce.
Json reduce(const ReduceOptions& options);

}  // namespace steadfold::bench
