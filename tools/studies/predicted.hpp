// What a reduction of a vector a rank takes on a network that is not there.
// Rank order: that of the schedule. Cost: O(messages), or O(1) by the model. Source: collective/prediction,
// collective/model.
#pragma once

#include <string>

#include "collective/prediction.hpp"
#include "study.hpp"

namespace steadfold::command::studies {

/// As many columns on every rank, combined by `plain`.
struct Vectors {
  order::Rank ranks = 1;
  order::Count columns = 1;
  arithmetic::Type type = arithmetic::Type::f64;
  arithmetic::Operation operation = arithmetic::Operation::sum;
  bool rooted = false;  // to rank 0

  order::Bytes element_bytes() const { return type == arithmetic::Type::f32 ? 4 : 8; }
};

/// A schedule for vectors, with as many segments as its name says, or as the pipelining lemma wants on the link.
collective::Scenario scenario_of(const Vectors& vectors, const std::string& schedule, const Asked& asked);
/// By simulation.
double predicted_seconds(const collective::Scenario& scenario, transport::Topology& topology);
/// By the registry's formulas, on a flat network; nothing where there is none.
std::optional<double> modelled_seconds(const Vectors& vectors, const std::string& schedule, const Asked& asked);

/// What MPICH would take: [S3] sections III.A and III.B.
std::string mpich_schedule(const Vectors& vectors);

}  // namespace steadfold::command::studies
