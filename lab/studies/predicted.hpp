// Predicts the time of reducing one vector per rank on a network that need not exist.
// Rank order: that of the schedule. Cost: O(messages), or O(1) by the model.
// Source: collective/prediction, collective/model.
#pragma once

#include <string>

#include "prediction/prediction.hpp"
#include "study.hpp"

namespace steadfold::command::studies {

/// Vectors of equally many columns on every rank, combined by `plain`.
struct Vectors {
  order::Rank ranks = 1;
  order::Count columns = 1;
  arithmetic::Type type = arithmetic::Type::f64;
  arithmetic::Operation operation = arithmetic::Operation::sum;
  bool rooted = false;  // to rank 0

  order::Bytes element_bytes() const { return arithmetic::size_of(type); }
};

/// A schedule for vectors, with as many segments as its name says, or as the pipelining lemma gives for the link.
prediction::Scenario scenario_of(const Vectors& vectors, const std::string& schedule, const Asked& asked);
/// The time by simulation.
double predicted_seconds(const prediction::Scenario& scenario, transport::Topology& topology);
/// The time on a flat network by the registry's formulas; nothing if there are none.
std::optional<double> modelled_seconds(const Vectors& vectors, const std::string& schedule, const Asked& asked);

/// The schedule that MPICH would take: [S3] sections III.A and III.B.
std::string mpich_schedule(const Vectors& vectors);

}  // namespace steadfold::command::studies
