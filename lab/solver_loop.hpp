// `bench solver-loop`: what scalar products that keep their bits cost in a solver: example_sea_ice, by every way of
// making them, measured on few ranks and predicted for many.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "bench/contest.hpp"
#include "tools/command.hpp"

namespace steadfold::command {

struct SolverLoopOptions {
  std::vector<std::size_t> counts = {96};  // cells along a side of the square grid
  int rounds = 15;
};

/// Throws Failure if a grid cannot be cut into tiles.
void check(const SolverLoopOptions& options);

/// One launch of the program, which stands beside this command, on so many ranks: a contest of whole solves for every
/// grid, and one of their products. Rivals first: plain sums, those by side, integers in two reductions, pairs of
/// doubles. Throws Failure if the program is not there or fails, or if Steadfold's ways have other bits than each
/// other.
bench::Measurement solver_loop(const SolverLoopOptions& options, int rank_count);

/// A row for every way and number of ranks from 36 to 2304: the solve of the first rank count that was measured,
/// divided among the ranks, and the predicted time of the messages.
Json predicted_solves(const bench::Measurement& measurement);

std::string table_of_predicted_solves(const Json& rows);

}  // namespace steadfold::command
