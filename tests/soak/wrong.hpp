// What ranks answer to a wrong call.
#pragma once

#include <cstdint>
#include <vector>

#include "case.hpp"

namespace steadfold::soak {

struct Answer {
  std::uint32_t statuses;  // those that fit, a bit each
  bool is_due;             // else the rank may have ended well
};

Answer answer_to(const Case& made, std::size_t rank);

/// The first interval that is not empty; null where there is none.
const sf_interval* first_rows(const std::vector<sf_interval>& intervals);

/// The row that the operator refuses (Wrong::failing_operator), or of which no group has the label, which the culprit
/// holds.
std::uint64_t poisoned_row(const Case& made);

/// Wrong::failing_rank: which of the culprit's calls of the operator fails.
int failing_call(const Case& made);

}  // namespace steadfold::soak
