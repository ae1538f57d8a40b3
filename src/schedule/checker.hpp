// Proves schedules: runs every rank's program with symbols in place of bytes and messages that wait for their receiver.
// Rank order: checked where a row claims it, cyclic order elsewhere. Cost: O(steps of all ranks). Source: ours.
//
// Rounds are counted so: each rank has one send port and one receive port (or as many as the row says), merging is
// free. A message starts at max(its data is there, send port free) and keeps the port for one round; it is received at
// max(its start, receive port free) + 1. Ports serve messages in the order of the steps that send and receive them;
// see ports.hpp.
//
// Bytes: counted are the messages of every segment that carry partials and those that carry values. Where all partials
// of a segment have one size (plain; exact at full width) the bytes follow, see bytes_of; a record's size follows from
// its rows.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "schedule/registry.hpp"

namespace steadfold::schedule {

/// What is wrong with the schedule for this rank count, root, collective and segment count; nothing when it is proved.
/// The rank of the context does not count; a layout must be in rank order; without one every rank holds a row. Checked
/// under synchronous sends and first-in-first-out between two ranks: every row exactly once in the value of every rank
/// that should have it and of no other, what `covers` says, rank order, equal merge trees on all ranks where the row
/// says so, sends and receives that name the same slots, segments apart, no landing slot written while unread, no
/// deadlock, messages, what they carry, and rounds as the row's formulas say.
std::optional<std::string> check(const Row& row, Context context);

/// What a sweep found: a count of proved cases and one line for each other.
struct Sweep {
  Count passed = 0;
  std::vector<std::string> failures;
};

/// Checks every row, alone and with its examples of parameters, for each of its collectives, 1, 2 and 3 segments (or 1,
/// the row's unit and twice that), every rank count to `max_ranks` and every root (beyond 32 ranks a sample of
/// them). A row whose steps follow the layout is checked on a sample of those: few and many elements, by every
/// distribution, with empty ranks.
Sweep check_all(Rank max_ranks, std::span<const Row> rows = registry());

}  // namespace steadfold::schedule
