// What the programs of this directory share: a linear system, its solution by another library's solver with several
// kinds of dot products, and the record that --json prints.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "common/ranks.hpp"
#include "solver/problem.hpp"

namespace adapters {

/// The problem, and the options of its solution.
struct Task {
  solver::Problem problem;                // that of example_solver, here with an assembled matrix
  std::string solver = "cg";              // or gmres
  std::string preconditioner = "jacobi";  // or none
  std::string product = "ordered";        // the matrix-vector product; own: the library's
  double tolerance = 1e-8;                // of the residual's norm, relative to that of the right-hand side
  int most_iterations = 1000;
  std::vector<std::string> dots = {"plain", "exact", "binned"};  // plain: the library's own dot products
  int repetitions = 1;
  bool values = false;  // the record has the bits of the solution, too
};

/// A row of the matrix: columns in ascending order.
struct Row {
  int count = 0;
  std::array<int, 7> columns;
  std::array<double, 7> values;
};
Row row_of(const solver::Problem& problem, std::uint64_t index);
double source_of(const solver::Problem& problem, std::uint64_t index);

/// The result of a library's solver.
struct Outcome {
  std::uint64_t iterations = 0;
  bool converged = false;
  std::vector<double> history;   // residuals of every iteration, or the inner products that they were computed from
  double residual = 0;           // the last one, as the solver says
  std::vector<double> solution;  // this rank's rows
  std::vector<std::pair<std::string, double>> reductions;  // the library's other reductions, each tried once
  double seconds = 0;                                      // of the solver alone, on this rank
  double dot_seconds = 0;                                  // of one dot product of two vectors, on this rank
};

/// A library with an adapter. `solve` is collective; it throws std::runtime_error where the library fails.
struct Library {
  std::string name;     // of the program, example_NAME
  std::string version;  // the library's
  std::function<Outcome(const Task&, const std::string& dot, const example::Ranks&)> solve;
};

/// Median time of one call of `dot`, of some.
double time_of(const std::function<void()>& dot, const example::Ranks& ranks);

/// The whole program: reads the command line, starts MPI, solves and prints. `begin` and `end` stand around the work of
/// every rank. Returns the exit status.
int run_program(int argc, char** argv, const Library& library, const std::function<void()>& begin,
                const std::function<void()>& end);

}  // namespace adapters
