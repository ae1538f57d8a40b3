// What the command asks the registry of schedules.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "schedule/registry.hpp"

namespace steadfold::command {

/// The names of all schedules.
std::vector<std::string> schedule_names();

/// The collective for which a schedule, with its parameters, is asked by default: allreduce if it offers that or is no
/// schedule, else reduce.
std::string own_collective(const std::string& schedule);
/// Throws Failure if no collective has the name.
schedule::Collective collective_named(const std::string& name);
inline constexpr const char* collective_help =
    "reduce (to rank 0) or allreduce; default: allreduce, or reduce where the schedule offers nothing else";

/// Whether the name asks for the schedule that suits the call best: auto and mpich.
bool is_policy(const std::string& schedule);

/// Why a schedule, with its parameters, cannot sum by that method, as "problem (why), suggestion"; `nullopt` if it can.
/// Throws std::invalid_argument if there is no such schedule, Failure if there is no such method.
std::optional<std::string> refusal(const std::string& schedule, const std::string& method, bool rooted);

}  // namespace steadfold::command
