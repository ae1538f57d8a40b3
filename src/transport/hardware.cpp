// Reads the machine's topology from hwloc and keeps it as plain numbers.
#include "transport/hardware.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <memory>
#include <set>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <utility>

#ifdef STEADFOLD_HWLOC
#include <hwloc.h>
#endif

namespace steadfold::transport {
namespace {

/// Makes cores with these numbers, without any other known property.
std::vector<Core> bare_cores(const cpu_set_t& processors) {
  std::vector<Core> cores;
  for (int processor = 0; processor < CPU_SETSIZE; ++processor) {
    if (!CPU_ISSET(processor, &processors)) continue;
    CPU_SET(processor, &cores.emplace_back().processors);
  }
  return cores;
}

/// Returns the text after the colon of a line "key : value"; empty if the line has another key.
std::string value_in(const std::string& line, std::string_view key) {
  const std::size_t colon = line.find(": ");
  return line.starts_with(key) && colon != std::string::npos ? line.substr(colon + 2) : "";
}

std::string name_in(const char* cpuinfo) {
  std::ifstream file(cpuinfo);
  std::string maker;
  for (std::string line; std::getline(file, line);) {
    if (std::string name = value_in(line, "model name"); !name.empty()) return name;
    if (maker.empty()) maker = value_in(line, "CPU implementer");
    if (const std::string part = value_in(line, "CPU part"); !part.empty()) return maker.append(" ").append(part);
  }
  return "unknown";
}

#ifdef STEADFOLD_HWLOC

struct Destroy {
  void operator()(hwloc_topology_t topology) const noexcept { hwloc_topology_destroy(topology); }
};
using Loaded = std::unique_ptr<hwloc_topology, Destroy>;

/// Loads the topology of the machine; returns null if memory ran out.
Loaded started() {
  hwloc_topology_t made = nullptr;
  if (hwloc_topology_init(&made) != 0) return nullptr;
  Loaded topology(made);
  hwloc_topology_set_all_types_filter(made, HWLOC_TYPE_FILTER_KEEP_NONE);
  for (const auto type : {HWLOC_OBJ_PACKAGE, HWLOC_OBJ_L3CACHE, HWLOC_OBJ_CORE})
    hwloc_topology_set_type_filter(made, type, HWLOC_TYPE_FILTER_KEEP_ALL);
  // For some NUMA domains, only hwloc's groups tell which cores belong to them.
  hwloc_topology_set_type_filter(made, HWLOC_OBJ_GROUP, HWLOC_TYPE_FILTER_KEEP_STRUCTURE);
  return topology;
}

Rank number_of(hwloc_obj_t found) { return found == nullptr ? -1 : static_cast<Rank>(found->logical_index); }

std::vector<Core> cores_of(hwloc_topology_t topology) {
  std::vector<Core> cores;
  const bool has_cores = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_CORE) > 0;
  const hwloc_obj_type_t type = has_cores ? HWLOC_OBJ_CORE : HWLOC_OBJ_PU;
  for (hwloc_obj_t each = nullptr; (each = hwloc_get_next_obj_by_type(topology, type, each)) != nullptr;) {
    Core& core = cores.emplace_back();
    const auto above = [&](hwloc_obj_type_t wanted) {
      return number_of(hwloc_get_ancestor_obj_by_type(topology, wanted, each));
    };
    core.whereabouts = {.package = above(HWLOC_OBJ_PACKAGE), .cache = above(HWLOC_OBJ_L3CACHE)};
    if (hwloc_bitmap_weight(each->nodeset) == 1) core.whereabouts.domain = hwloc_bitmap_first(each->nodeset);
    for (int bit = hwloc_bitmap_first(each->cpuset); bit >= 0; bit = hwloc_bitmap_next(each->cpuset, bit))
      if (bit < CPU_SETSIZE) CPU_SET(bit, &core.processors);
  }
  return cores;
}

std::vector<Core> own_cores() {
  const Loaded topology = started();
  const bool is_read = topology != nullptr && hwloc_topology_load(topology.get()) == 0;
  return is_read ? cores_of(topology.get()) : bare_cores(usable_processors());
}

#else

std::vector<Core> own_cores() { return bare_cores(usable_processors()); }

#endif

}  // namespace

const Hardware& Hardware::own() {
  // Never destroyed, because destructors of other objects may use it.
  static const Hardware& machine = *new Hardware(own_cores());
  return machine;
}

#ifdef STEADFOLD_HWLOC
Hardware Hardware::synthetic(const std::string& description) {
  const Loaded topology = started();
  if (topology == nullptr || hwloc_topology_set_synthetic(topology.get(), description.c_str()) != 0 ||
      hwloc_topology_load(topology.get()) != 0)
    throw std::invalid_argument(
        "machine description '" + description +
        "' cannot be used (hwloc does not understand it), write a description like 'package:2 core:8 pu:1'");
  return Hardware(cores_of(topology.get()));
}
#else
Hardware Hardware::synthetic(const std::string& description) {
  throw std::runtime_error("machine description '" + description +
                           "' cannot be used (Steadfold was built without hwloc), build Steadfold with hwloc");
}
#endif

Hardware Hardware::among(const cpu_set_t& processors) const {
  std::vector<Core> found;
  for (Core core : cores_) {
    CPU_AND(&core.processors, &core.processors, &processors);
    if (CPU_COUNT(&core.processors) > 0) found.push_back(core);
  }
  // hwloc may show other processors than the system schedules on, as in some virtual machines.
  return Hardware(found.empty() ? bare_cores(processors) : std::move(found));
}

const Core& Hardware::core_of(Rank thread, Rank threads) const noexcept {
  return cores_[static_cast<std::size_t>(thread) * cores_.size() / static_cast<std::size_t>(threads)];
}

Whereabouts Hardware::of(const cpu_set_t& processors) const noexcept {
  Whereabouts common;
  bool is_first = true;
  for (const Core& core : cores_) {
    cpu_set_t used;
    CPU_AND(&used, &core.processors, &processors);
    if (CPU_COUNT(&used) == 0) continue;
    if (std::exchange(is_first, false)) common = core.whereabouts;
    for (Rank Whereabouts::*const level : {&Whereabouts::package, &Whereabouts::domain, &Whereabouts::cache})
      if (common.*level != core.whereabouts.*level) common.*level = -1;
  }
  return common;
}

Whereabouts own_whereabouts() noexcept {
  const cpu_set_t processors = usable_processors();
  // A thread that may run on all processors is in no part of the machine, or in a part that all ranks share. hwloc
  // would take milliseconds to find this out, since it loads its plugins.
  if (CPU_COUNT(&processors) >= sysconf(_SC_NPROCESSORS_ONLN)) return {};
  try {
    return Hardware::own().of(processors);
  } catch (...) {
    return {};
  }
}

std::vector<Rank> parts_of(std::span<const Whereabouts> ranks) {
  for (Rank Whereabouts::*const level : {&Whereabouts::package, &Whereabouts::domain, &Whereabouts::cache}) {
    std::vector<Rank> labels;
    for (const Whereabouts& each : ranks) labels.push_back(each.*level);
    const std::set<Rank> parts(labels.begin(), labels.end());
    if (!parts.contains(-1) && parts.size() > 1 && parts.size() < labels.size()) return labels;
  }
  return {};
}

const std::string& processor_name() {
  // Never destroyed, because destructors of other objects may use it.
  static const std::string& name = *new std::string(name_in("/proc/cpuinfo"));
  return name;
}

cpu_set_t usable_processors() noexcept {
  cpu_set_t processors;
  if (sched_getaffinity(0, sizeof processors, &processors) != 0) CPU_ZERO(&processors);
  if (CPU_COUNT(&processors) == 0) CPU_SET(0, &processors);
  return processors;
}

void bind_this_thread(const cpu_set_t& processors) {
  if (sched_setaffinity(0, sizeof processors, &processors) == 0) return;
  throw std::runtime_error("the thread cannot be bound to a core (" + std::generic_category().message(errno) +
                           "), set STEADFOLD_BIND=off");
}

}  // namespace steadfold::transport
