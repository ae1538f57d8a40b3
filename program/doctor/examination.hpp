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

/// By this process: each result by one thread, and by three with the rows out of order. Throws std::runtime_error with
/// the library's reason where a call is refused, as by a wrong setting in the environment.
Examination examine_alone();
/// By all ranks of the group, each with a part of the rows. Collective; throws on all ranks as above.
Examination examine_over(sf_group& group);

}  // namespace steadfold
