// A transport for ranks of nodes: small messages between ranks that share a node's memory go through cache lines, all
// other messages through an inner transport. If all ranks share one node, they have boards too. A rank is a process, or
// a worker of a team.
// Cost: a connection takes one more exchange of cache lines. Source: Lapillonne & Peltekov 2013. This transport does
// not call MPI: the caller provides the memory and the inner transport.
#pragma once

#include <memory>
#include <vector>

#include "transport/shared/transport.hpp"
#include "transport/transport.hpp"

namespace steadfold::transport {

/// Makes the transports of this process's ranks, over one inner transport per rank. Collective: every process calls it.
/// `among` has the ranks of this node; `among.own` is the first rank of this process. The ranks of a process see its
/// part of the memory at the same address. The memory must be new, so that the first block of every process has the
/// same BlockId. If only one rank may call MPI, it is the first rank. Throws std::runtime_error if the memory has no
/// room.
std::vector<std::unique_ptr<Transport>> make_node_transports(std::vector<std::unique_ptr<Transport>> inner,
                                                             Neighbourhood among, bool one_drives);
/// Makes the transport of a process that is one rank; see make_node_transports.
std::unique_ptr<Transport> make_node_transport(std::unique_ptr<Transport> inner, Neighbourhood among);

}  // namespace steadfold::transport
