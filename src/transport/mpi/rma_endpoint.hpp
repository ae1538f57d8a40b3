// One rank's end of a plan whose small messages pass through lanes.
// Rank order and cost: see rma.hpp.
#pragma once

#include <memory>

#include "transport/mpi/rma.hpp"

namespace steadfold::transport {

/// Makes the endpoint. `owner` must outlive the endpoint and gets the lanes back. `inner` carries all messages that do
/// not go through lanes.
std::unique_ptr<Endpoint> make_rma_endpoint(std::unique_ptr<Endpoint> inner, RmaTransport& owner,
                                            std::shared_ptr<Window> window, std::shared_ptr<Lanes> lanes,
                                            Ticket tickets, bool shares_cores);

}  // namespace steadfold::transport
