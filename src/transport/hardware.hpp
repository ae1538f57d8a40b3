// The cores of a node: which cores share a package, a NUMA domain or a cache, and which core each thread gets.
// Cost: the machine is read once per process, in some milliseconds; every other function takes O(cores).
// Source: Lapillonne & Peltekov 2013, the library hwloc. Without hwloc, only the numbers of the cores are known.
#pragma once

#include <sched.h>

#include <span>
#include <string>
#include <vector>

#include "order/index.hpp"

namespace steadfold::transport {

using order::Rank;

/// The package, NUMA domain and cache that contain all cores on which a thread may run. Use the numbers only to
/// compare threads. -1 if unknown, or if the cores lie in several.
struct Whereabouts {
  Rank package = -1;
  Rank domain = -1;  // number of the NUMA domain
  Rank cache = -1;   // number of the third-level cache

  friend constexpr bool operator==(const Whereabouts&, const Whereabouts&) = default;
};

struct Core {
  cpu_set_t processors = {};  // the hardware threads of the core, with the system's numbers
  Whereabouts whereabouts;
};

class Hardware {
 public:
  /// Returns the machine that this process runs on, with all cores that the system may give to the process.
  static const Hardware& own();
  /// Returns a machine that hwloc simulates, described as "package:2 numa:4 core:16 pu:1". Throws
  /// std::invalid_argument, or std::runtime_error without hwloc.
  static Hardware synthetic(const std::string& description);

  explicit Hardware(std::vector<Core> cores) : cores_(std::move(cores)) {}

  /// Returns the cores, in an order in which neighbouring cores share as much as possible.
  std::span<const Core> cores() const noexcept { return cores_; }
  /// Returns the cores that have at least one of these processors. Each returned core has only these processors.
  Hardware among(const cpu_set_t& processors) const;
  /// Returns the core for the thread with number `thread` of `threads` threads. Threads with neighbouring numbers are
  /// close together, and the threads spread over the whole machine. If there are more threads than cores, threads share
  /// cores. There must be at least one core.
  const Core& core_of(Rank thread, Rank threads) const noexcept;
  /// Returns the package, NUMA domain and cache of a thread that may use these processors.
  Whereabouts of(const cpu_set_t& processors) const noexcept;

 private:
  std::vector<Core> cores_;
};

/// Returns the package, NUMA domain and cache of the calling thread; unknown if the thread may run on all processors,
/// or if memory runs out.
Whereabouts own_whereabouts() noexcept;

/// Returns one label per rank: its package, its NUMA domain or its cache, whichever is the largest part that separates
/// ranks. Ranks with equal labels share a part. Empty if no part has several ranks, if one part has all ranks, or if
/// the location of a rank is unknown.
std::vector<Rank> parts_of(std::span<const Whereabouts> ranks);

/// Returns the system's name of the processor, such as "AMD EPYC 9B14 96-Core Processor". If the system gives only
/// numbers, returns these numbers, such as "0x41 0xd40". If it gives nothing, returns "unknown". The name is read once
/// per process.
const std::string& processor_name();

/// Returns the processors that the calling thread may use; at least one.
cpu_set_t usable_processors() noexcept;
/// Restricts the calling thread to these processors. Throws std::runtime_error.
void bind_this_thread(const cpu_set_t& processors);

}  // namespace steadfold::transport
