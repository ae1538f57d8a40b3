// What it gains that a port sends and receives at the same time: predicted times with ports that do, and with ports
// that do one after the other. Source: [S1] section 1.1: with both at once a rank should use MPI_Sendrecv, else
// MPI_Send and MPI_Recv, which count as two steps.
#include <fmt/format.h>

#include "pipelines.hpp"

namespace steadfold::command::studies::pipelines {
namespace {

constexpr order::Count duplex_lengths[] = {1, 512, 10000};

Json duplex_row(const Configuration& configuration, const Algorithm& algorithm, order::Count length,
                const Asked& asked) {
  const Vectors vectors = floats(configuration.ranks(), length);
  prediction::Scenario scenario = scenario_of(vectors, algorithm.schedule, asked);
  const auto seconds = [&](bool half_duplex) {
    scenario.half_duplex = half_duplex;
    return predicted_seconds(scenario, *transport::make_topology("flat", asked.link, vectors.ranks));
  };
  const double both = seconds(false);
  const double in_turn = seconds(true);
  return {{"part", "duplex"},
          {"configuration", text_of(configuration)},
          {"floats", length},
          {"algorithm", algorithm.schedule},
          {"of", algorithm.of},
          {"block", algorithm.tried == BlockSizes::none ? Json() : Json(block_of(length, scenario.segments))},
          {"seconds", both},
          {"half_duplex_seconds", in_turn},
          {"ratio", in_turn / both}};
}

}  // namespace

Findings duplex(const Asked& given) {
  const Asked asked = linear(given);
  Findings found;
  for (const Configuration& each : configurations_in(asked)) {
    for (const order::Count length : duplex_lengths) {
      if (length > asked.largest) continue;
      for (const Algorithm& algorithm : algorithms) found.rows.push_back(duplex_row(each, algorithm, length, asked));
    }
  }
  return found;
}

}  // namespace steadfold::command::studies::pipelines
