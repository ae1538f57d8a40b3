// The expected result of a reduction, computed as docs/guarantees.md defines it. Shares no function with src/.
#pragma once

#include <cstddef>
#include <vector>

#include "case.hpp"
#include "elements.hpp"

namespace steadfold::soak {

/// The expected status of a rank and, if it is SF_OK, the bytes of its results.
struct Expected {
  sf_status status = SF_OK;
  std::vector<std::byte> bytes;
};

/// The reduction of the first `rows` rows, for all columns.
Expected reduced(const Member& member, const Elements& all, std::uint64_t rows);

/// The reduction of the first `rows` rows of a member that selects elements by a mask or by labels.
Expected reduced_selected(const Member& member, const Elements& all, std::uint64_t rows);

/// The expected results per rank. There is only one if all ranks get the same result, or parts of it.
std::vector<Expected> expected_of(const Member& member, const Elements& all);

/// The parts, one per method. `out` has room for a row of results.
void reduce_by_tree(const Member& member, const Elements& all, std::uint64_t rows, std::byte* out);
void reduce_once_rounded(const Member& member, const Elements& all, std::uint64_t rows, std::byte* out);
void describe_columns(const Member& member, const Elements& all, std::uint64_t rows, std::byte* out);
void locate(const Member& member, const Elements& all, std::uint64_t rows, std::byte* out);

}  // namespace steadfold::soak
