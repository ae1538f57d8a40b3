// What `steadfold doctor` runs: golden cases of every operation, type and method, whose bits are the same on every
// machine, over every MPI library. They are program/doctor/golden_cases.inc, which tests/golden/make.py writes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "steadfold/steadfold_group.h"

namespace steadfold {

struct Examination {
  std::uint64_t cases = 0;
  std::uint64_t checked = 0;       // results: of every case by each of its methods
  std::string digest;              // of the results' bits; 16 hexadecimal digits
  std::vector<std::string> wrong;  // a line for each result that is not what was recorded
};

/// Each result by one thread, by three with the rows out of order, and by all ranks of the group with a part of the
/// rows each. Collective; without a group, by this process alone. Throws std::bad_alloc.
Examination examine(sf_group* group);

}  // namespace steadfold
