// Checks whether a call is valid: its arguments, its size, its data.
#pragma once

#include <algorithm>
#include <cstdint>

#include "call/description.hpp"
#include "call/failure.hpp"

namespace steadfold::call {

/// Returns the largest number of rows of `row_bytes` bytes that a call may have. No memory can hold more rows.
constexpr Count most_rows(Bytes row_bytes) noexcept { return order::most_elements / std::max<Bytes>(row_bytes, 1); }

/// Throws Failure if no memory can hold the rows of the call.
void require_size(const Call& call);
/// Throws Failure if a call cannot have this number of threads.
void require_threads(unsigned threads);
/// Throws Failure if an argument makes the call invalid, on whichever rank. `rank_count` bounds the root.
void validate(const Call& call, Rank rank_count);

/// The pointer that a call needs and that is null.
enum class Missing : std::uint8_t { nothing, first, second, mask, label, result };
/// Returns the first pointer that the call needs and that is null. `rows` is the number of rows on this rank. `is_due`
/// says that this rank gets a result.
Missing missing(const Description& description, Count rows, const Data& data, bool is_due) noexcept;
/// Makes the failure that names the missing pointer. `missing` must not be `nothing`.
Failure failure_of(Missing missing, arithmetic::Operation operation, Count rows);

}  // namespace steadfold::call
