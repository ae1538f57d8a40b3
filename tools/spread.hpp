// Computes the number of elements of each rank, from the name of a rule or from a file of counts.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace steadfold::command {

/// Returns one count per rank, `element_count` in all. `distribution` is lower, upper, power2, optimized[:deviation=x],
/// balanced or the path of a file with one count per rank. Throws Failure for other texts, and if the counts of the
/// file do not fit.
std::vector<std::uint64_t> spread(const std::string& distribution, std::uint64_t element_count, int rank_count);

}  // namespace steadfold::command
