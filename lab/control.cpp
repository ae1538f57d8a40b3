#include "control.hpp"

#include <mpi.h>

#include "steadfold/mpi.hpp"

namespace steadfold::command {

ControlSums control_sums(const Job& job) {
  const ControlShare share(job.rank(), job.rank_count());
  ControlSums sums;
  job.together([&] {
    sums.tree = share.sums("tree", MPI_COMM_WORLD);
    sums.exact = share.sums("exact", MPI_COMM_WORLD);
  });
  const std::vector<double> mine = share.loops();
  std::vector<double> all(mine.size());
  for (int run = 0; run < ControlSums::runs; ++run) {
    MPI_Allreduce(mine.data(), all.data(), static_cast<int>(mine.size()), MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    sums.plain.push_back(bits_of(all));
  }
  return sums;
}

}  // namespace steadfold::command
