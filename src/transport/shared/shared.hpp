// Transports for workers, the threads of one process or of several. Messages within a process go through cache lines
// that all its threads see. Other messages go through the memory of the node, or through the connection between
// processes.
// Rank order: ranks are numbered by process, then by worker; see endpoint.hpp. Cost: a gather or a connection takes one
// exchange of cache lines; with several processes, also an exchange between processes, and one more cache line. Source:
// Lapillonne & Peltekov
// 2013. The transports do not call MPI and start no threads.
#pragma once

#include <memory>
#include <vector>

#include "transport/outside.hpp"
#include "transport/transport.hpp"

namespace steadfold::transport {

/// Makes one transport per worker, each for one thread at a time. The transports share memory that lives as long as any
/// of them or any of their endpoints. `shares_cores` says that there are more workers than cores, so a waiting worker
/// yields its core.
std::vector<std::unique_ptr<Transport>> make_shared_transports(Rank workers, bool shares_cores);

/// Makes one transport per worker of this process, which reaches the workers of all processes. The transports can add
/// words only if `outside` is null. `node` is the result of Outside::share_node.
std::vector<std::unique_ptr<Transport>> make_shared_transports(const std::shared_ptr<const Workers>& all,
                                                               const std::shared_ptr<Outside>& outside,
                                                               const Neighbourhood& node, bool shares_cores);

}  // namespace steadfold::transport
