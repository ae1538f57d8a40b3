// Ranks of nodes: small messages between ranks that share a node's memory go through cache lines, all else through the
// transport below. Where all ranks share one node, they have boards too. A rank is a process, or a worker of a team.
// Rank order: see endpoint.hpp. Cost: connections take one more exchange of lines. Source: [S2], ours.
// Free of MPI: the memory and the transport below bring it.
#pragma once

#include <memory>
#include <vector>

#include "transport/shared/transport.hpp"
#include "transport/transport.hpp"

namespace steadfold::transport {

/// Over the transports of this process's ranks, one per rank. Collective in that every process makes its own. `among`:
/// the ranks of this node, of which those of a process see its part of the memory at the same address; `own` is the
/// first of this process. The memory is new, so that the first block of every process has the same place. Where one
/// rank drives, it is that one. Throws std::runtime_error where the memory has no room for it.
std::vector<std::unique_ptr<Transport>> make_node_transports(std::vector<std::unique_ptr<Transport>> inner,
                                                             Neighbourhood among, bool one_drives);
/// make_node_transports for a process that is one rank.
std::unique_ptr<Transport> make_node_transport(std::unique_ptr<Transport> inner, Neighbourhood among);

}  // namespace steadfold::transport
