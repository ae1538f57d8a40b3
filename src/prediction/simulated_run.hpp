// Carries out all ranks' steps in one process with sizes and times in place of bytes.
// Rank order: that of the steps. Cost: some 0.4 us per message if no links are shared; some 2 KiB per rank.
// Source: LogGP; rounds as in schedule/checker/checker.hpp.
//
// Steps are taken from the generators as they are carried out, never stored. A rank has one processor, which takes
// steps in order: a step starts when the one before it has, its slots' communications are complete, and what it reads
// is there; lift, merge and finish last an operation for each addition of two elements. Messages pass the ports by the
// rule of schedule/ports.hpp and are buffered: a send is complete when its port is done with it. Those of a wave (see
// schedule/step.hpp) pass the port and are merged in the order in which their first bytes come; rounds keep the order
// of the steps.
#pragma once

#include "prediction/sizes.hpp"
#include "transport/simulated/topology.hpp"

namespace steadfold::prediction {

using order::Count;

struct Spent {
  Count messages = 0;
  Count rounds = 0;
  Count bytes = 0;
  Count operations = 0;  // of all ranks
  double seconds = 0;    // until the last rank is done
};

/// Every rank has `ports` to send and as many to receive, or, half duplex, so many to do either. The row must not leave
/// adding to the transport. Throws std::logic_error when the schedule gets stuck.
Spent simulated_run(const schedule::Row& row, const schedule::Context& context, const order::Layout& layout,
                    const Sizes& sizes, transport::Topology& topology, double seconds_per_operation,
                    std::uint32_t ports, bool half_duplex = false);

}  // namespace steadfold::prediction
