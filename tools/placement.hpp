// Where ranks stand on the nodes of a predicted network.
// Source: [S3], which says how many ranks a node has, but not how they were dealt to the nodes.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "transport/simulated/topology.hpp"

namespace steadfold::command {

inline constexpr std::uint64_t placement_seed = 1;  // of `random`

/// Throws Failure unless it is the name of a placement.
void check_placement(const std::string& placement);

/// The network with ranks at other places: `block` (ranks fill one node after the other), `round_robin` (they are dealt
/// to the nodes in turn) or `random` (the places of `block` in an order drawn from a fixed seed).
std::unique_ptr<transport::Topology> placed(std::unique_ptr<transport::Topology> network, const std::string& placement,
                                            transport::Rank rank_count);

}  // namespace steadfold::command
