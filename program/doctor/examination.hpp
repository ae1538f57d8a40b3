// Runs the checks of `steadfold doctor`: golden cases of every operation, type and method. Their bits are the same on
// every machine and with every MPI library. tests/golden/make.py writes the cases to program/doctor/golden_cases.inc.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "steadfold/steadfold_group.h"

namespace steadfold {

struct Examination {
  std::uint64_t cases = 0;
  std::uint64_t checked = 0;       // number of results: one per case and method
  std::string digest;              // digest of the results' bits, 16 hexadecimal digits
  std::vector<std::string> wrong;  // one line per result that differs from its record
};

/// Runs the cases in this process: each with one thread, and with three threads and rows out of order. Throws
/// std::runtime_error with the library's reason if the library refuses a call, for example because of a wrong setting
/// in the environment.
Examination examine_alone();
/// Runs the cases on all ranks of the group, each with a part of the rows. Collective. Throws on all ranks as
/// examine_alone does.
Examination examine_over(sf_group& group);

}  // namespace steadfold
