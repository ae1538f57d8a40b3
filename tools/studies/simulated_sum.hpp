// A sum over ranks that are all in this process: the same agreement, plans and schedules as under MPI.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "collective/call.hpp"
#include "order/starts.hpp"
#include "transport/simulated.hpp"

namespace steadfold::command::studies {

struct SimulatedSum {
  collective::Method method = collective::Method::tree;
  std::string schedule;
  bool rooted = false;  // to rank 0
  order::Count columns = 1;
  transport::SimulatedOptions network = {.delivery = transport::Delivery::prompt};
};

/// All its ranks, agreed and planned once and run often. Throws Failure where the library refuses, or a rank does not
/// get done.
class SimulatedJob {
 public:
  SimulatedJob(const order::TwoShares& shares, const SimulatedSum& asked);
  SimulatedJob(SimulatedJob&&) noexcept;
  ~SimulatedJob();

  /// What rank 0 gets, the columns of an element one behind the other.
  std::vector<double> run(std::span<const double> elements);

 private:
  struct Ranks;
  std::unique_ptr<Ranks> ranks_;
};

/// The same once, of one column.
double simulated_sum(std::span<const double> elements, const order::TwoShares& shares, const SimulatedSum& asked);

}  // namespace steadfold::command::studies
