// `steadfold info`: shows versions, and the properties of this machine on which bits or speed may depend.
#include <CLI/CLI.hpp>
#include <cfenv>
#include <functional>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>

#include "call/methods.hpp"
#include "info.hpp"
#include "kernels/target.hpp"
#include "plan/profile.hpp"
#include "program/mpi_library.hpp"
#include "steadfold/steadfold.h"
#include "table.hpp"
#include "transport/hardware.hpp"

namespace steadfold::command {
namespace {

std::vector<std::string> instruction_sets() {
  std::vector<std::string> found;
  for (const kernels::Target target : kernels::available()) found.emplace_back(kernels::name_of(target));
  return found;
}

std::string rounding_mode() {
  switch (std::fegetround()) {
    case FE_TONEAREST: return "to nearest";
#ifdef FE_UPWARD
    case FE_UPWARD: return "upward";
#endif
#ifdef FE_DOWNWARD
    case FE_DOWNWARD: return "downward";
#endif
#ifdef FE_TOWARDZERO
    case FE_TOWARDZERO: return "toward zero";
#endif
    default: return "unknown";
  }
}

/// Whether subnormal results become 0. Computes a subnormal number, because each kind of processor has the control bit
/// in another place.
bool flushes_results() {
  const volatile double smallest_normal = std::numeric_limits<double>::min();
  const volatile double half = smallest_normal / 2;
  return half == 0;
}

bool flushes_operands() {
  const volatile double smallest = std::numeric_limits<double>::denorm_min();
  const volatile double large = smallest * 0x1p+1000;
  return large == 0;
}

/// Describes the machine. Values that hwloc does not know are null.
Json machine() {
  const std::span<const transport::Core> cores = transport::Hardware::own().cores();
  const auto count = [&](transport::Rank transport::Whereabouts::*level) {
    std::set<transport::Rank> numbers;
    for (const transport::Core& core : cores) numbers.insert(core.whereabouts.*level);
    return numbers.contains(-1) ? Json() : Json(numbers.size());
  };
  using transport::Whereabouts;
  return {{"packages", count(&Whereabouts::package)},
          {"numa_domains", count(&Whereabouts::domain)},
          {"caches", count(&Whereabouts::cache)},
          {"cores", cores.size()}};
}

}  // namespace

Json installation() {
  Json json;
  json["version"] = sf_version();
  for (const call::MethodProperties& method : call::methods()) {
    if (!method.bits_version.empty()) json["bits_versions"][std::string(method.merging.method)] = method.bits_version;
  }
  json["mpi_library"] = mpi_library().version;
  json["built_for"] = mpi_library().name;
  const std::string profile = plan::profile_of(mpi_library().version);
  json["profile"] = profile.empty() ? Json() : Json(profile);
  const std::string unused = plan::network_of(mpi_library().version).unused_profile;
  json["unused_profile"] = unused.empty() ? Json() : Json(unused);
  json["instruction_sets"] = {{"found", instruction_sets()}, {"chosen", kernels::name_of(kernels::chosen())}};
  json["prefetch"] = kernels::name_of(kernels::prefetch);
  json["rounding_environment"] = {
      {"rounding", rounding_mode()}, {"flush_to_zero", flushes_results()}, {"subnormals_are_zero", flushes_operands()}};
  json["machine"] = machine();
  return json;
}

std::string table_of(const Json& json) {
  std::vector<std::vector<std::string>> rows;
  const std::function<void(const std::string&, const Json&)> add = [&](const std::string& name, const Json& value) {
    if (value.is_object()) {
      for (const auto& [key, inner] : value.items()) add(name.empty() ? key : name + "." + key, inner);
      return;
    }
    std::string text = value.is_string() ? value.get<std::string>() : value.dump();
    if (value.is_array()) {
      text.clear();
      for (const Json& each : value) text += (text.empty() ? "" : " ") + each.get<std::string>();
    }
    rows.push_back({name, text.substr(0, text.find('\n'))});
  };
  add("", json);
  return table(rows);
}

void add_info(CLI::App& app, Action& action) {
  CLI::App& info = *app.add_subcommand("info", "Show versions, instruction sets and the rounding environment");
  const auto as_json = std::make_shared<bool>(false);
  info.add_flag("--json", *as_json, "Print one JSON object");
  info.callback([as_json, &action] {
    action = [as_json](const Job&) { return Result{*as_json ? line_of(installation()) : table_of(installation())}; };
  });
}

}  // namespace steadfold::command
