// The statuses that ranks must get for a wrong call.
#pragma once

#include <cstdint>
#include <vector>

#include "case.hpp"

namespace steadfold::soak {

struct Answer {
  std::uint32_t statuses;  // a bit for each status that is right
  bool is_due;             // false: the rank may also succeed
};

Answer answer_to(const Case& made, std::size_t rank);

/// The first interval that is not empty; null if there is none.
const sf_interval* first_rows(const std::vector<sf_interval>& intervals);

/// The row that the operator refuses (Wrong::failing_operator), or whose label no group has (Wrong::bad_label). The
/// culprit holds it.
std::uint64_t poisoned_row(const Case& made);

/// For Wrong::failing_rank: the number of the culprit's call of the operator that fails.
int failing_call(const Case& made);

}  // namespace steadfold::soak
