// Puts ranks on the nodes of a predicted network. Source: Balaji & Kimpe, who say how many ranks a node has, but not
// which ranks.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "transport/simulated/topology.hpp"

namespace steadfold::command {

inline constexpr std::uint64_t placement_seed = 1;  // seed of the placement `random`

/// Throws Failure if no placement has this name.
void check_placement(const std::string& placement);

/// Returns the network with the ranks placed by a rule: `block` (ranks fill one node after the other), `round_robin`
/// (ranks are dealt to the nodes in turn) or `random` (the places of `block`, shuffled with a fixed seed).
std::unique_ptr<transport::Topology> placed(std::unique_ptr<transport::Topology> network, const std::string& placement,
                                            transport::Rank rank_count);

}  // namespace steadfold::command
