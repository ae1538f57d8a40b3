// The options of a run of the ocean.
#pragma once

#include <cstdint>
#include <string>

namespace climate {

struct Grid {
  std::uint64_t columns = 48, rows = 36, levels = 4;
};

struct Task {
  Grid grid;
  std::uint64_t steps = 40;
  bool plain = false;      // sums by loops and MPI_Allreduce
  std::string load, save;  // directories; empty: neither
};

}  // namespace climate
