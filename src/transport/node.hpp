// Ranks of nodes: small messages between ranks that share a node's memory go through cache lines, all else through the
// transport below. Where all ranks share one node, they have boards too.
// Rank order: see shared_endpoint.hpp. Cost: connections take one more exchange of lines. Source: [S2], ours.
// Free of MPI: the memory and the transport below bring it.
#pragma once

#include <memory>

#include "transport/shared_transport.hpp"
#include "transport/transport.hpp"

namespace steadfold::transport {

/// Collective in that every rank makes its own. `among`: the ranks of this one's node; its memory is new, so that the
/// first block of every neighbour has the same place. Throws std::runtime_error where the memory has no room for it.
std::unique_ptr<Transport> make_node_transport(std::shared_ptr<Transport> inner, Neighbourhood among);

}  // namespace steadfold::transport
