// The elements of all ranks, made from a seed.
#pragma once

#include <cstddef>
#include <vector>

#include "case.hpp"

namespace steadfold::soak {

/// The elements of the whole job, row-major, in order of index.
struct Elements {
  std::vector<std::byte> first;
  std::vector<std::byte> second;  // the second factors, or the mask; otherwise empty
  // For an array: one entry per element; otherwise empty.
  std::vector<bool> mask;
  std::vector<std::int64_t> labels;
};

Elements make_elements(const Member& member, std::uint64_t seed);
/// Makes a value of the member's result.
std::vector<std::byte> make_initial(const Member& member, Random& random);

/// Whether no element is an infinity or a NaN, if elements are floating-point numbers.
bool are_finite(const Member& member, const Elements& elements);

/// A rank's rows of `row_bytes` bytes, in the order of its memory.
std::vector<std::byte> rows_of(const std::vector<std::byte>& all, std::size_t row_bytes,
                               const std::vector<sf_interval>& intervals);

}  // namespace steadfold::soak
