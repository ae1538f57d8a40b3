// The cores of a node: which of them share a package, a NUMA domain or a cache, and where threads go on them.
// Rank order: none. Cost: the machine is read once per process, in some milliseconds; the rest takes O(cores).
// Source: [S2], HWLOC library. Without hwloc, only the numbers of the cores are known.
#pragma once

#include <sched.h>

#include <span>
#include <string>
#include <vector>

#include "order/index.hpp"

namespace steadfold::transport {

using order::Rank;

/// What a thread's cores lie in, by numbers that mean nothing else. -1: nobody knows, or they lie in several.
struct Whereabouts {
  Rank package = -1;
  Rank domain = -1;  // NUMA
  Rank cache = -1;   // of the third level

  friend constexpr bool operator==(const Whereabouts&, const Whereabouts&) = default;
};

struct Core {
  cpu_set_t processors = {};  // its hardware threads, by the system's numbers
  Whereabouts whereabouts;
};

class Hardware {
 public:
  /// The one that this process runs on, with all cores that the system may give it.
  static const Hardware& own();
  /// One that hwloc makes up: "package:2 numa:4 core:16 pu:1". Throws std::invalid_argument, std::runtime_error
  /// without hwloc.
  static Hardware synthetic(const std::string& description);

  explicit Hardware(std::vector<Core> cores) : cores_(std::move(cores)) {}

  /// In an order in which cores next to each other share most.
  std::span<const Core> cores() const noexcept { return cores_; }
  /// The cores with some of these processors, and no other ones of theirs.
  Hardware among(const cpu_set_t& processors) const;
  /// The core for one of `places` threads, of which those with numbers next to each other should be close, and which
  /// use all of the machine. More threads than cores share them. There must be a core.
  const Core& core_of(Rank place, Rank places) const noexcept;
  /// What is common to the cores of a thread that may use these processors.
  Whereabouts of(const cpu_set_t& processors) const noexcept;

 private:
  std::vector<Core> cores_;
};

/// Those of the calling thread, on the machine that this process runs on; unknown where memory runs out.
Whereabouts own_whereabouts() noexcept;

/// By rank, the largest parts of the node that keep ranks apart: packages, else NUMA domains, else caches. Ranks with
/// equal labels share one. Nothing if no part has several ranks, one has all, or somebody's whereabouts are not known.
std::vector<Rank> parts_of(std::span<const Whereabouts> ranks);

/// The name of the processor, as the system gives it: "AMD EPYC 9B14 96-Core Processor"; by numbers where it has none,
/// "0x41 0xd40"; or "unknown". Read once per process.
const std::string& processor_name();

/// The processors that the calling thread may use; at least one.
cpu_set_t usable_processors() noexcept;
/// Lets the calling thread use no other ones. Throws std::runtime_error.
void bind_this_thread(const cpu_set_t& processors);

}  // namespace steadfold::transport
