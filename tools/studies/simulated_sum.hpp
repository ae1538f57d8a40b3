// A sum over ranks that are all in this process: the same agreement, plans and schedules as under MPI.
#pragma once

#include <span>
#include <string>

#include "collective/call.hpp"
#include "order/starts.hpp"

namespace steadfold::command::studies {

struct SimulatedSum {
  collective::Method method = collective::Method::tree;
  std::string schedule;
  bool rooted = false;  // to rank 0
};

/// What rank 0 gets. Throws Failure where the library refuses, or a rank does not get done.
double simulated_sum(std::span<const double> elements, const order::TwoShares& shares, const SimulatedSum& asked);

}  // namespace steadfold::command::studies
