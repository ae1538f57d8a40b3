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

/// The package, NUMA domain and cache that contain all cores of a thread. The numbers serve only to compare. -1 if
/// unknown, or if the cores lie in several.
struct Whereabouts {
  Rank package = -1;
  Rank domain = -1;  // a NUMA domain
  Rank cache = -1;   // a third-level cache

  friend constexpr bool operator==(const Whereabouts&, const Whereabouts&) = default;
};

struct Core {
  cpu_set_t processors = {};  // its hardware threads, numbered as the system does
  Whereabouts whereabouts;
};

class Hardware {
 public:
  /// The machine that this process runs on, with all cores that the system may give to the process.
  static const Hardware& own();
  /// A machine that hwloc simulates, as "package:2 numa:4 core:16 pu:1". Throws std::invalid_argument, or
  /// std::runtime_error without hwloc.
  static Hardware synthetic(const std::string& description);

  explicit Hardware(std::vector<Core> cores) : cores_(std::move(cores)) {}

  /// The cores, in an order in which neighbouring cores share as much as possible.
  std::span<const Core> cores() const noexcept { return cores_; }
  /// The cores that have at least one of these processors. Each is returned with only these processors.
  Hardware among(const cpu_set_t& processors) const;
  /// The core for the thread with number `place` of `places` threads. Threads with neighbouring numbers are close
  /// together, and the threads spread over the whole machine. If there are more threads than cores, threads share
  /// cores. There must be at least one core.
  const Core& core_of(Rank place, Rank places) const noexcept;
  /// The package, NUMA domain and cache of a thread that may use these processors.
  Whereabouts of(const cpu_set_t& processors) const noexcept;

 private:
  std::vector<Core> cores_;
};

/// The package, NUMA domain and cache of the calling thread; unknown if memory runs out.
Whereabouts own_whereabouts() noexcept;

/// One label per rank: its package, its NUMA domain or its cache, whichever is the largest part that separates ranks.
/// Ranks with equal labels share a part. Empty if no part has several ranks, if one part has all ranks, or if the
/// location of a rank is unknown.
std::vector<Rank> parts_of(std::span<const Whereabouts> ranks);

/// The system's name of the processor, such as "AMD EPYC 9B14 96-Core Processor". If the system gives only numbers,
/// these numbers, such as "0x41 0xd40". If it gives nothing, "unknown". Read once per process.
const std::string& processor_name();

/// The processors that the calling thread may use; at least one.
cpu_set_t usable_processors() noexcept;
/// Restricts the calling thread to these processors. Throws std::runtime_error.
void bind_this_thread(const cpu_set_t& processors);

}  // namespace steadfold::transport
