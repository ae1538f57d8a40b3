// Memory for the arguments to which a call points, so that the call can outlive its caller's arguments, and can have
// defaults that no caller gave. Cost: `hold` copies lists. A call whose caller waits for the end is not held.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "call/call.hpp"

namespace steadfold::call {

/// The memory must outlive every call that points to it, and must not move. It keeps the capacity that earlier calls
/// needed.
struct HeldArguments {
  std::vector<order::Interval> intervals;
  std::vector<Count> blocks;
  std::vector<std::byte> initial;
  std::string schedule;
  std::string operator_name;
  std::optional<Array> array;
  std::optional<order::Grid> grid;
};

/// Copies everything to which the call points, except its data, and lets the call point to the copies.
void hold(Call& call, HeldArguments& arguments);

/// Fills in the defaults of a call on this rank: the layout of MPI (one row per rank), the rows of a grid, one interval
/// if the call lists no intervals, and equal blocks if the call has no blocks.
void fill_defaults(Call& call, HeldArguments& arguments, Rank rank, Rank rank_count);

}  // namespace steadfold::call
