// Workers that are threads of one process: messages through cache lines that all of them see.
// Rank order: a worker's number is its rank; see shared_endpoint.hpp. Cost: gathers and connections take one exchange
// of lines. Source: [S2]. Free of MPI; makes no threads.
#pragma once

#include <memory>
#include <vector>

#include "transport/transport.hpp"

namespace steadfold::transport {

/// One transport per worker, each for one thread at a time. They share memory that lives as long as any of them or of
/// their endpoints. `shares_cores`: there are more workers than cores, so whoever waits yields.
std::vector<std::unique_ptr<Transport>> make_shared_transports(Rank workers, bool shares_cores);

/// How many cores this process may use.
unsigned usable_cores() noexcept;

}  // namespace steadfold::transport
