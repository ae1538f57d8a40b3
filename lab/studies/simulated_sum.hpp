// A sum over ranks that all live in this process: the same agreement, plans and schedules as under MPI.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "call/description.hpp"
#include "order/starts.hpp"
#include "transport/simulated/simulated.hpp"

namespace steadfold::command::studies {

struct SimulatedSum {
  call::Method method = call::Method::tree;
  std::string schedule;
  bool rooted = false;  // to rank 0
  order::Count columns = 1;
  transport::SimulatedOptions network = {.delivery = transport::Delivery::prompt};
};

/// All ranks of a sum, agreed and planned once, run often. Throws Failure if the library refuses or a rank does not
/// finish.
class SimulatedJob {
 public:
  SimulatedJob(const order::TwoShares& shares, const SimulatedSum& asked);
  SimulatedJob(SimulatedJob&&) noexcept;
  ~SimulatedJob();

  /// Returns rank 0's result. `elements` holds the columns of one element after those of another.
  std::vector<double> run(std::span<const double> elements);

 private:
  struct Ranks;
  std::unique_ptr<Ranks> ranks_;
};

/// Rank 0's result of a SimulatedJob that has one column and is run once.
double simulated_sum(std::span<const double> elements, const order::TwoShares& shares, const SimulatedSum& asked);

}  // namespace steadfold::command::studies
