// What the command asks the registry of schedules.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace steadfold::command {

/// The names of all schedules.
std::vector<std::string> schedule_names();

/// Why a schedule, with its parameters, cannot sum by that method: "problem (why), suggestion". Throws
/// std::invalid_argument when there is no such schedule.
std::optional<std::string> refusal(const std::string& schedule, const std::string& method, bool rooted);

}  // namespace steadfold::command
