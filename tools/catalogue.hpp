// Looks up facts in the registry of schedules for the command.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "schedule/registry.hpp"

namespace steadfold::command {

/// Returns the names of all schedules.
std::vector<std::string> schedule_names();

/// Returns the default collective of a schedule, with its parameters: allreduce if the schedule offers it or if there
/// is no schedule of the name, else reduce.
std::string own_collective(const std::string& schedule);
/// Returns the collective of this name. Throws Failure if there is none.
schedule::Collective collective_named(const std::string& name);
inline constexpr const char* distribution_help =
    "How many elements each rank has: lower, upper, power2, optimized[:deviation=x], balanced, or a file with one "
    "count "
    "per rank";
inline constexpr const char* schedule_help =
    "A name that `steadfold schedules` lists, auto, or mpich (the schedule that MPICH chooses)";
inline constexpr const char* collective_help =
    "reduce (to rank 0) or allreduce; default: allreduce, or reduce for owner and if the schedule offers only reduce";

/// Says why a schedule, with its parameters, cannot sum with a method, as "problem (why), suggestion"; `nullopt` if it
/// can. Throws std::invalid_argument for an unknown schedule, and Failure for an unknown method.
std::optional<std::string> refusal(const std::string& schedule, const std::string& method, bool rooted);

}  // namespace steadfold::command
