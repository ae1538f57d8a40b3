// Executes all ranks' steps in one process, with sizes and times instead of bytes.
// Cost: about 0.4 us per message if no links are shared, and about 2 KiB per rank.
// Source: LogGP; rounds as in schedule/checker/checker.hpp.
//
// The run takes steps from the generators as it executes them, and stores none. A rank has one processor, which takes
// steps in order. A step starts when the processor is free, the communications of its slots are complete, and
// its input is there. Lift, merge and finish take one operation per addition of two elements.
//
// Messages pass the ports by the rule of schedule/ports.hpp and are buffered: a send is complete when its port has sent
// it. Messages of a wave (see schedule/step.hpp) pass the port and are merged in the order in which their first bytes
// arrive. Rounds keep the order of the steps.
#pragma once

#include "prediction/sizes.hpp"
#include "transport/simulated/topology.hpp"

namespace steadfold::prediction {

using order::Count;

struct Spent {
  Count messages = 0;
  Count rounds = 0;
  Count bytes = 0;
  Count operations = 0;  // number of operations of all ranks
  double seconds = 0;    // time in seconds until the last rank has finished
};

/// The machine of a simulated run. Every rank has `ports` ports to send and the same number to receive; if half duplex,
/// `ports` ports that do either.
struct SimulatedMachine {
  transport::Topology& topology;
  double seconds_per_operation;
  std::uint32_t ports;
  bool half_duplex = false;
};

/// Runs a schedule. The schedule must not leave additions to the transport. Throws std::logic_error if the schedule is
/// in a deadlock.
Spent simulated_run(const schedule::Algorithm& algorithm, const schedule::Context& context, const order::Layout& layout,
                    const Sizes& sizes, const SimulatedMachine& machine);

}  // namespace steadfold::prediction
