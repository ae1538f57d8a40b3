// Predicts a reduction without running it: messages, rounds and bytes as on real ranks, and the time from a model.
// Cost: O(steps of all ranks), or O(p) with the registry's formulas. Source: Stelz 2022, eq. 3.7 for the score.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "agreement/description.hpp"
#include "agreement/segmentation.hpp"
#include "order/pe_intersecting.hpp"
#include "transport/simulated/topology.hpp"

namespace steadfold::prediction {

using agreement::Description;
using agreement::Segmentation;
using order::Count;
using order::Rank;

/// A reduction over elements in rank order, and the time of one addition of two elements' columns.
struct Scenario {
  Description description;
  schedule::Spec schedule;    // serves the description
  std::vector<Count> counts;  // elements of each rank
  std::uint32_t segments = 1;
  std::vector<Count> blocks = {};  // reduce_scatter: the columns of each rank
  double seconds_per_operation = order::score_addition_seconds;
  arithmetic::Operator user = {};  // for Operation::user
  std::uint32_t ports = 0;         // per rank, to send and to receive; 0: as many as the schedule is made for
  bool half_duplex = false;        // each port sends or receives, in the rank's order of steps
  std::shared_ptr<const order::Nodes> nodes = nullptr;  // of the machine, for schedules with groups

  Rank rank_count() const noexcept { return static_cast<Rank>(counts.size()); }
  /// How the columns are divided: into `segments`, or into `blocks`.
  Segmentation segmentation() const;
};

/// `nothing`: the transport makes the reduction, so messages and time cannot be predicted.
enum class PredictedBy : std::uint8_t { simulation, formulas, nothing };

/// Unknown values are empty: without a simulation, the bytes of records, the times and some rounds.
struct Prediction {
  PredictedBy by = PredictedBy::nothing;
  std::optional<Count> messages;
  std::optional<Count> rounds;
  std::optional<Count> bytes;
  std::optional<double> seconds;
};

/// Larger jobs use the registry's formulas instead of a simulation. The checker has proved them for smaller jobs.
inline constexpr Count most_simulated_messages = 1'000'000'000;
inline constexpr Rank most_simulated_ranks = 1 << 21;  // about 4 GiB

/// Partials of `exact` count at full width. `topology` must be new. Throws Failure if the method does not serve the
/// call, and std::bad_alloc.
Prediction predict(const Scenario& scenario, transport::Topology& topology);

/// The first reduction of the two that a double sweep makes; `predict` leaves it out.
std::optional<Scenario> first_sweep_of(const Scenario& scenario);
/// The prediction of two reductions, one after the other.
Prediction in_turn(const Prediction& first, const Prediction& second);

}  // namespace steadfold::prediction
