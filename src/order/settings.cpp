#include "order/settings.hpp"

#include <cstdlib>
#include <cstring>

namespace steadfold::order {
namespace {

constexpr int most_values = 5;

struct Variable {
  const char* name;
  const char* suggestion;
  // The values that the variable may have; empty if the code that reads the variable checks its value.
  const char* values[most_values] = {};
};

constexpr Variable variables[] = {
    {"STEADFOLD_TARGET", "name an instruction set"},
    {"STEADFOLD_PREFETCH", "set it to off, near or far", {"off", "near", "far"}},
    {"STEADFOLD_SCHEDULE", "name a schedule"},
    {"STEADFOLD_TRANSPORT",
     "set it to auto, mpi, shared, rma or rma:loads",
     {"auto", "mpi", "shared", "rma", "rma:loads"}},
    {"STEADFOLD_BIND", "set it to on or off", {"on", "off"}},
    {"STEADFOLD_PROFILE", "name a file"},
};

std::string fault_of(const Variable& variable) {
  const char* const value = std::getenv(variable.name);
  if (value == nullptr) return "";
  const std::string behind = std::string("), ") + variable.suggestion + ", or leave it unset";
  if (*value == '\0')
    return std::string(variable.name) + " is empty (a variable that is set must have a value" + behind;
  bool is_known = variable.values[0] == nullptr;
  for (const char* const each : variable.values)
    is_known = is_known || (each != nullptr && std::strcmp(each, value) == 0);
  return is_known ? "" : std::string(variable.name) + " cannot be '" + value + "' (the value is unknown" + behind;
}

}  // namespace

const std::string& fault_of_settings() {
  // never destroyed, because destructors may call this function at the end of the program
  static const std::string& once = *new std::string([] {
    for (const Variable& each : variables)
      if (std::string fault = fault_of(each); !fault.empty()) return fault;
    return std::string();
  }());
  return once;
}

}  // namespace steadfold::order
