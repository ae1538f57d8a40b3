// What a reduction should come to, straight from docs/guarantees.md. Shares no function with src/.
#pragma once

#include <cstddef>
#include <vector>

#include "case.hpp"
#include "elements.hpp"

namespace steadfold::soak {

/// What one column or row of results has to be: a status, and bytes where that is SF_OK.
struct Expected {
  sf_status status = SF_OK;
  std::vector<std::byte> bytes;
};

/// The reduction of the first `rows` rows, all columns.
Expected reduced(const Member& member, const Elements& all, std::uint64_t rows);

/// The reduction of the first `rows` rows of a member that selects elements by a mask or by labels.
Expected reduced_selected(const Member& member, const Elements& all, std::uint64_t rows);

/// By rank: one where all ranks get (parts of) the same.
std::vector<Expected> expected_of(const Member& member, const Elements& all);

/// The parts, by method. `out` has room for a row of results.
void reduce_by_tree(const Member& member, const Elements& all, std::uint64_t rows, std::byte* out);
void reduce_once_rounded(const Member& member, const Elements& all, std::uint64_t rows, std::byte* out);
void describe_columns(const Member& member, const Elements& all, std::uint64_t rows, std::byte* out);
void locate(const Member& member, const Elements& all, std::uint64_t rows, std::byte* out);

}  // namespace steadfold::soak
