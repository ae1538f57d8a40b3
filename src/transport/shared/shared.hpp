// Workers that are threads, of one process or of several: messages within a process go through cache lines that all of
// its threads see, others through those of their node, or through what connects the processes.
// Rank order: by process, then by worker; see endpoint.hpp. Cost: gathers and connections take one exchange of
// lines; those of several processes also one between these, and one more line. Source: [S2]. Free of MPI; makes no
// threads.
#pragma once

#include <memory>
#include <vector>

#include "transport/outside.hpp"
#include "transport/transport.hpp"

namespace steadfold::transport {

/// One transport per worker, each for one thread at a time. They share memory that lives as long as any of them or of
/// their endpoints. `shares_cores`: there are more workers than cores, so whoever waits yields.
std::vector<std::unique_ptr<Transport>> make_shared_transports(Rank workers, bool shares_cores);

/// One transport per worker of this process, which reaches the workers of all processes. Words are added only if
/// `outside` is null. `node`: what Outside::share_node gave.
std::vector<std::unique_ptr<Transport>> make_shared_transports(const std::shared_ptr<const Workers>& all,
                                                               const std::shared_ptr<Outside>& outside,
                                                               const Neighbourhood& node, bool shares_cores);

}  // namespace steadfold::transport
