#include "settings.hpp"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <string_view>
#include <vector>

#include "steadfold/operations.hpp"

namespace steadfold::interpose {
namespace {

struct Variable {
  const char* name;
  std::string suggestion;
  std::vector<std::string_view> values;  // values that the variable may have; empty: any value except `no_files`
  // Values that a user might write instead of a file name to switch the setting on or off.
  std::vector<std::string_view> no_files = {};
};

Variable method_variable() {
  Variable made{"STEADFOLD_INTERPOSE_METHOD", "set it to ", {}};
  for (const detail::NamedMethod& each : detail::named_methods) {
    const bool is_last = &each == std::end(detail::named_methods) - 1;
    made.suggestion += std::string(made.values.empty() ? "" : is_last ? " or " : ", ") + each.name;
    made.values.emplace_back(each.name);
  }
  return made;
}

const std::vector<Variable>& variables() {
  static const std::vector<std::string_view> switches = {"0", "yes", "no", "on", "off", "true", "false"};
  static const auto& all = *new std::vector<Variable>{
      method_variable(),
      {"STEADFOLD_INTERPOSE_EXTREMES", "set it to ieee, or to mpi for the MPI library's comparison", {"mpi", "ieee"}},
      {"STEADFOLD_INTERPOSE_REPORT", "set it to 1 for a table, or to the name of a file", {}, switches},
      {"STEADFOLD_INTERPOSE_DIAGNOSE", "set it to 1, or to 0 to turn comparison off", {"0", "1"}},
      {"STEADFOLD_INTERPOSE_RECORD", "set it to the name of a file", {}, switches},
      {"STEADFOLD_INTERPOSE_CALLERS",
       "set it to the number of callers to name, at most 8",
       {"0", "1", "2", "3", "4", "5", "6", "7", "8"}},
      {"STEADFOLD_INTERPOSE_SKIP", "set it to operators, types or places, separated by commas", {}, {}},
      {"STEADFOLD_INTERPOSE_OUTCOME", "let steadfold run set it", {}, {}},
      {"STEADFOLD_INTERPOSE_COMPARE", "set it to the name of a file", {}, switches},
  };
  return all;
}

bool is_among(std::string_view value, const std::vector<std::string_view>& values) {
  return std::ranges::find(values, value) != values.end();
}

}  // namespace

std::string setting(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::string fault_of_settings() {
  for (const Variable& each : variables()) {
    const char* const value = std::getenv(each.name);
    if (value == nullptr) continue;
    const std::string name(each.name);
    if (*value == '\0')
      return name + " is empty (a variable that is set must have a value), " + each.suggestion + ", or leave it unset";
    if (each.values.empty() ? is_among(value, each.no_files) : !is_among(value, each.values))
      return name + " cannot be '" + value + "' (the value is unknown), " + each.suggestion;
  }
  return "";
}

}  // namespace steadfold::interpose
