// What a reduction will take, without running it: messages, rounds and bytes as on real ranks, and the time of a model.
// Rank order: that of the schedule. Cost: O(steps of all ranks), or O(p) by the registry's formulas. Source:
// [S0] eq. 3.7 for the score.
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

/// A reduction over elements in rank order, and how long one addition of two elements' columns takes.
struct Scenario {
  Description description;
  schedule::Spec schedule;    // serves the description
  std::vector<Count> counts;  // elements of each rank
  std::uint32_t segments = 1;
  std::vector<Count> blocks = {};  // reduce_scatter: the columns of each rank
  double seconds_per_operation = order::score_addition_seconds;
  arithmetic::Operator user = {};  // Operation::user
  std::uint32_t ports = 0;         // of each rank, to send and to receive; 0: as many as the schedule is made for
  bool half_duplex = false;        // a port sends or receives, in the order in which a rank comes to it
  std::shared_ptr<const order::Nodes> nodes = nullptr;  // of the machine, for schedules that take groups from them

  Rank rank_count() const noexcept { return static_cast<Rank>(counts.size()); }
  /// How the columns are cut: into `segments`, or into the blocks.
  Segmentation segmentation() const;
};

/// `nothing`: the schedule leaves it to the transport, which alone could know.
enum class PredictedBy : std::uint8_t { simulation, formulas, nothing };

/// What cannot be known is empty: without a simulation, bytes of records, times and some rounds.
struct Prediction {
  PredictedBy by = PredictedBy::nothing;
  std::optional<Count> messages;
  std::optional<Count> rounds;
  std::optional<Count> bytes;
  std::optional<double> seconds;
};

/// Beyond these the registry's formulas, which the checker has proved for smaller jobs, take the simulation's place.
inline constexpr Count most_simulated_messages = 1'000'000'000;
inline constexpr Rank most_simulated_ranks = 1 << 21;  // some 4 GiB

/// Partials of `exact` count at full width. `topology` must be fresh. Throws Failure if the method does not serve the
/// call, and std::bad_alloc.
Prediction predict(const Scenario& scenario, transport::Topology& topology);

/// The reduction that comes before a reduction by double sweep; `predict` leaves it out.
std::optional<Scenario> first_sweep_of(const Scenario& scenario);
/// Two reductions, one after the other.
Prediction in_turn(const Prediction& first, const Prediction& second);

}  // namespace steadfold::prediction
