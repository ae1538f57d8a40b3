// The costs of messages and of handling partials on a machine. The choice of a schedule and predictions depend on them.
// The bits of results do not depend on these costs. The exception is plain floating-point sums, whose bits depend on
// the schedule.
// Source: the LogGP model. Messages above the eager limit wait for the receiver (the rendezvous of MPI libraries).
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "arithmetic/partial.hpp"
#include "transport/simulated/topology.hpp"

namespace steadfold::plan {

/// The link that the library assumes by default; predictions use it too. Without a gap, schedules with many small
/// messages would look as cheap as schedules with few large ones. On 16 cores of a node, over shared memory and over
/// MPI, they took 2.3 times as long (lab/notes/sixteen_cores.md). Without an eager limit, the choice would be halves
/// for long vectors where whole vectors are faster, and whole vectors of medium length where halves are faster
/// (lab/notes/choice.md).
inline constexpr transport::LogGP assumed_link{.gap = 0.5e-6, .eager_limit = 4032, .rendezvous = 3e-6};

/// The time to handle partials, in seconds per byte.
struct Rates {
  double merge_per_byte = 0;   // seconds per byte of one of the two partials
  double finish_per_byte = 0;  // seconds per byte that a partial of all rows has beyond its result
};

/// The names of the contents of partials (arithmetic::Content), in the order of their numbers.
inline constexpr std::array<std::string_view, arithmetic::content_count> content_names = {"values", "accumulators",
                                                                                          "bins"};
/// The times that the library assumes without a profile. Measured with `steadfold tune` on a Zen 4, with data in its
/// caches: lab/notes/choice.md.
inline constexpr std::array<Rates, arithmetic::content_count> assumed_rates = {
    {{4e-11, 6e-11}, {3.3e-10, 6.7e-10}, {2.1e-10, 4.9e-10}}};

struct Network {
  transport::LogGP link = assumed_link;  // link between nodes, or between any two ranks if the nodes are unknown
  transport::LogGP inside = link;        // link between ranks of one node
  // Link between ranks of one part of a node (package, NUMA domain, shared cache).
  transport::LogGP inside_part = inside;
  // Times to handle partials, by arithmetic::Content.
  std::array<Rates, arithmetic::content_count> rates = assumed_rates;

  const Rates& rates_of(const arithmetic::PartialKind& kind) const noexcept {
    return rates[static_cast<std::size_t>(kind.content())];
  }
  /// Returns the network between the ranks of one node: the links between the node's parts, and inside the parts.
  Network of_one_node() const noexcept {
    return {.link = inside, .inside = inside_part, .inside_part = inside_part, .rates = rates};
  }
};

/// A link within a node that a profile may describe; its keys begin with `name`. Without these keys it is like the link
/// around it.
struct LinkInside {
  std::string_view name;
  transport::LogGP Network::*link;
  transport::LogGP Network::*around;
};
inline constexpr std::array<LinkInside, 2> links_inside = {
    {{"node", &Network::inside, &Network::link}, {"part", &Network::inside_part, &Network::inside}}};

/// A parameter that changes for messages above a limit. A profile must give both figures or neither.
struct LinkLimit {
  std::string_view limit_name;
  std::string_view name;
  transport::Bytes transport::LogGP::*limit;
  double transport::LogGP::*figure;
};
inline constexpr std::array<LinkLimit, 2> link_limits = {
    {{"eager_limit", "rendezvous", &transport::LogGP::eager_limit, &transport::LogGP::rendezvous},
     {"long_from", "long_per_byte", &transport::LogGP::long_from, &transport::LogGP::long_per_byte}}};

}  // namespace steadfold::plan
