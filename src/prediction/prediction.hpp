// Predicts a reduction without running it: the numbers of messages, rounds and bytes are those of a real run, and the
// time comes from a model. Cost: O(steps of all ranks), or O(p) with the registry's formulas. Source: Stelz 2022, eq.
// 3.7 for the score.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "call/description.hpp"
#include "order/pe_intersecting.hpp"
#include "plan/segmentation.hpp"
#include "transport/simulated/topology.hpp"

namespace steadfold::prediction {

using call::Description;
using order::Count;
using order::Rank;
using plan::Segmentation;

/// A reduction over elements in rank order, and the time of one addition of two elements' columns.
struct Scenario {
  Description description;
  schedule::Spec schedule;    // the schedule; it must be able to serve the description
  std::vector<Count> counts;  // number of elements of each rank
  std::uint32_t segments = 1;
  std::vector<Count> blocks = {};  // number of columns of each rank, for reduce_scatter
  double seconds_per_operation = order::score_addition_seconds;
  arithmetic::Operator user = {};  // the user's operator, for Operation::user
  // Number of ports per rank, to send and to receive; 0: the number for which the schedule is made.
  std::uint32_t ports = 0;
  bool half_duplex = false;  // whether each port either sends or receives, in the rank's order of steps
  std::shared_ptr<const order::Nodes> nodes = nullptr;  // nodes of the machine, for schedules with groups

  Rank rank_count() const noexcept { return static_cast<Rank>(counts.size()); }
  /// Returns how the columns are divided: into `segments`, or into `blocks`.
  Segmentation segmentation() const;
};

/// How a prediction was made. `nothing`: the transport makes the reduction, so messages and time cannot be predicted.
enum class PredictedBy : std::uint8_t { simulation, formulas, nothing };

/// The predicted quantities. Unknown values are empty: without a simulation, the bytes of records, the times and some
/// rounds.
struct Prediction {
  PredictedBy by = PredictedBy::nothing;
  std::optional<Count> messages;
  std::optional<Count> rounds;
  std::optional<Count> bytes;
  std::optional<double> seconds;
};

/// The largest number of messages of a simulation. Larger jobs use the registry's formulas, which the checker has
/// proved for smaller jobs.
inline constexpr Count most_simulated_messages = 1'000'000'000;
// Largest number of ranks of a simulation, which then takes about 4 GiB.
inline constexpr Rank most_simulated_ranks = 1 << 21;

/// Predicts a reduction. Partials of method `exact` are counted with their full width. `topology` must not have been
/// used for another prediction. Throws Failure if the method does not serve the call, and std::bad_alloc.
Prediction predict(const Scenario& scenario, transport::Topology& topology);

/// Returns the first reduction of the two that a double sweep makes; `predict` leaves it out.
std::optional<Scenario> first_sweep_of(const Scenario& scenario);
/// Returns the prediction of two reductions, one after the other.
Prediction in_turn(const Prediction& first, const Prediction& second);

}  // namespace steadfold::prediction
