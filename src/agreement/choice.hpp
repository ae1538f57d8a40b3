// Which schedule serves a call, and why one that was asked for does not.
// Rank order: the choice keeps it where the operator needs it. Cost: O(rows of the registry), and for nodes at most
// 2^16 steps of each row. Source: [S3] sections III.A and III.B for MPICH's switch points.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "agreement/description.hpp"
#include "agreement/network.hpp"

namespace steadfold::agreement {

/// A schedule, and what it was compared with.
struct Chosen {
  std::string schedule;
  std::optional<double> seconds = {};  // predicted; nothing where the schedule was not compared with others
  std::string next = {};               // the best of the others by its predicted time; empty: there is none
  double next_seconds = 0;
};

/// "predicted 5.53 us by messages, next bruck with 6.10 us"; empty where nothing was compared.
std::string text_of(const Chosen& chosen);

/// The names by which `auto` tries a row: one, and one for each number of ports that is proved, if the row has some,
/// until a rank sends to all others at once.
std::vector<std::string> names_to_try(const schedule::Row& row, Rank rank_count);

/// Turns a name that is no row into one that is: `auto` takes the row that the model finds cheapest on that network,
/// `mpich` the one that MPICH would take, by size and powers of two. Other names are returned
/// as they are. The calls are those of one bundle and have one root; `layout` is that of the first. On several `nodes`
/// (null: one, or nobody knows) `auto` considers schedules with groups, where they change no bits, and takes one where
/// groups always pay.
Chosen chosen_schedule(const std::string& asked, std::span<const Description> calls, const order::Layout& layout,
                       const Network& network, const order::Nodes* nodes = nullptr);

/// Parses a schedule's name and checks that it serves the calls. Throws Failure. `may_differ`: as in schedule::Merging.
schedule::Spec checked_schedule(const std::string& text, std::span<const Description> calls,
                                schedule::Rows rows = schedule::registry(), bool may_differ = false);

}  // namespace steadfold::agreement
