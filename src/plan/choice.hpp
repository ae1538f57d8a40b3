// Chooses the schedule of a call, and explains why a named schedule cannot serve it.
// Rank order: the chosen schedule keeps it if the operator needs it. Cost: O(algorithms of the registry), and, if there
// are several nodes, at most 2^16 steps of each algorithm. Source: Balaji & Kimpe, sections III.A and III.B, for
// MPICH's switch points.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "call/description.hpp"
#include "plan/network.hpp"

namespace steadfold::plan {

using order::Rank;
using schedule::Collective;

/// A schedule, and the result of the comparison with other schedules.
struct Chosen {
  std::string schedule;
  std::optional<double> seconds = {};  // predicted time; nullopt if there was no comparison
  std::string next = {};               // the next best schedule by predicted time, or empty
  double next_seconds = 0;
};

/// Describes the choice: "predicted 5.53 us by messages, next bruck with 6.10 us". The text is empty if there was no
/// comparison.
std::string text_of(const Chosen& chosen);

/// Returns the names with which `auto` tries an algorithm of the registry. If it has ports, there is one name for each
/// proved number of ports, up to the number with which a rank sends to all others at once. Otherwise there is one name.
std::vector<std::string> names_to_try(const schedule::Algorithm& algorithm, Rank rank_count);

/// Replaces the name of a policy by the name of an algorithm; returns other names unchanged. `auto` takes the one that
/// the model predicts to be fastest on this network. `mpich` takes the algorithm that MPICH would take, by size and
/// powers of two. The calls belong to one bundle and have one root. `layout` is the layout of the first call. With
/// several `nodes` (null: there is one, or they are unknown) `auto` also tries schedules with groups, if they change no
/// bits, and takes one if groups always pay.
Chosen chosen_schedule(const std::string& asked, std::span<const call::Description> calls, const order::Layout& layout,
                       const Network& network, const order::Nodes* nodes = nullptr);

/// Parses a schedule's name and checks that it serves the calls. Throws Failure. `may_differ` says that ranks may get
/// different bits, as in schedule::Merging.
schedule::Spec checked_schedule(const std::string& text, std::span<const call::Description> calls,
                                schedule::Algorithms algorithms = schedule::registry(), bool may_differ = false);

}  // namespace steadfold::plan
