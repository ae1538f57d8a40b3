// What a reduction costs on a machine: messages, and the handling of partials. Choices and predictions follow from it,
// bits do not (but those of plain floating-point sums, which have a schedule's).
// Source: the LogGP model; messages above the eager limit wait for the receiver's leave (MPI libraries' rendezvous).
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "arithmetic/partial.hpp"
#include "transport/simulated/topology.hpp"

namespace steadfold::agreement {

/// The link that the library assumes if nobody names one; predictions use the same. Without a gap, schedules of many
/// small messages look as cheap as those of few large ones: on 16 cores of a node, over shared memory and over MPI,
/// they took 2.3 times as long (lab/notes/sixteen_cores.md). Without an eager limit, long vectors go in
/// halves where whole ones take less time, and middle ones whole (lab/notes/choice.md).
inline constexpr transport::LogGP assumed_link{.gap = 0.5e-6, .eager_limit = 4032, .rendezvous = 3e-6};

/// What handling partials takes, in seconds per byte.
struct Rates {
  double merge_per_byte = 0;   // of one of the two
  double finish_per_byte = 0;  // of what a partial of all rows has beyond its result
};

/// The names of arithmetic::Content, by its numbers.
inline constexpr std::array<std::string_view, arithmetic::content_count> content_names = {"values", "accumulators",
                                                                                          "bins"};
/// As `steadfold tune` measures them on a Zen 4, in its caches: lab/notes/choice.md.
inline constexpr std::array<Rates, arithmetic::content_count> assumed_rates = {
    {{4e-11, 6e-11}, {3.3e-10, 6.7e-10}, {2.1e-10, 4.9e-10}}};

struct Network {
  transport::LogGP link = assumed_link;   // between nodes, and between any two ranks where nobody knows of nodes
  transport::LogGP inside = link;         // between ranks of one node
  transport::LogGP inside_part = inside;  // between ranks of one part of a node: a package, a domain, a cache's cores
  std::array<Rates, arithmetic::content_count> rates = assumed_rates;  // by arithmetic::Content

  const Rates& rates_of(const arithmetic::PartialKind& kind) const noexcept {
    return rates[static_cast<std::size_t>(kind.content())];
  }
  /// What is left of it on one node: links between its parts, and inside them.
  Network of_one_node() const noexcept {
    return {.link = inside, .inside = inside_part, .inside_part = inside_part, .rates = rates};
  }
};

/// A link that a profile may describe besides the first one, by the name that its keys begin with; else it is like the
/// one around it.
struct LinkInside {
  std::string_view name;
  transport::LogGP Network::*link;
  transport::LogGP Network::*around;
};
inline constexpr std::array<LinkInside, 2> links_inside = {
    {{"node", &Network::inside, &Network::link}, {"part", &Network::inside_part, &Network::inside}}};

/// What is different for messages of more bytes than a limit. A profile describes both figures or none.
struct LinkLimit {
  std::string_view limit_name;
  std::string_view name;
  transport::Bytes transport::LogGP::*limit;
  double transport::LogGP::*figure;
};
inline constexpr std::array<LinkLimit, 2> link_limits = {
    {{"eager_limit", "rendezvous", &transport::LogGP::eager_limit, &transport::LogGP::rendezvous},
     {"long_from", "long_per_byte", &transport::LogGP::long_from, &transport::LogGP::long_per_byte}}};

}  // namespace steadfold::agreement
