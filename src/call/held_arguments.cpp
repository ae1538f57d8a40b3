#include "call/held_arguments.hpp"

#include "call/description.hpp"

namespace steadfold::call {

namespace {

/// Resolves the grid, and lists this rank's rows of it.
void resolve_grid(Call& call, HeldArguments& arguments, Rank rank, Rank rank_count) {
  // The grid of a held call is in `arguments` already. `resolved` returns a copy.
  const order::Grid& grid = arguments.grid.emplace(call.grid->resolved(rank_count));
  call.grid = &grid;
  if (call.element_count == arithmetic::unknown_count) call.element_count = grid.element_count();
  const Count count = grid.count(rank);
  if (count == call.rows && needs_indices(describe(call)))
    grid.list(rank, arguments.intervals);
  else  // a grid with a wrong number of rows could list so many intervals that they fill the memory
    arguments.intervals.front() = {0, count};
}

}  // namespace

void hold(Call& call, HeldArguments& arguments) {
  arguments.intervals.assign(call.intervals.begin(), call.intervals.end());
  arguments.blocks.assign(call.blocks.begin(), call.blocks.end());
  arguments.initial.assign(call.initial.begin(), call.initial.end());
  arguments.schedule = call.schedule;
  arguments.operator_name = call.operator_name;
  call.intervals = arguments.intervals;
  call.blocks = arguments.blocks;
  call.initial = arguments.initial;
  call.schedule = arguments.schedule;
  call.operator_name = arguments.operator_name;
  if (call.array != nullptr) call.array = &arguments.array.emplace(*call.array);
  if (call.grid != nullptr) call.grid = &arguments.grid.emplace(*call.grid);
}

void fill_defaults(Call& call, HeldArguments& arguments, Rank rank, Rank rank_count) {
  const auto ranks = static_cast<Count>(rank_count);
  if (call.collective == Collective::reduce_scatter && call.blocks.empty() && call.columns % ranks == 0) {
    arguments.blocks.assign(ranks, call.columns / ranks);
    call.blocks = arguments.blocks;
  }
  if (call.layout == LayoutKind::intervals) return;
  arguments.intervals.assign(1, {0, call.rows});
  if (call.layout == LayoutKind::row_per_rank) {
    arguments.intervals.front() = {static_cast<Index>(rank), static_cast<Index>(rank) + 1};
    if (call.element_count == arithmetic::unknown_count) call.element_count = ranks;
  }
  if (call.layout == LayoutKind::grid && call.grid != nullptr && !call.grid->fault(rank_count))
    resolve_grid(call, arguments, rank, rank_count);
  call.intervals = arguments.intervals;
}

}  // namespace steadfold::call
