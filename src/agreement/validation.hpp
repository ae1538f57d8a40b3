// Checks whether a call is valid: its arguments, its size, its data.
#pragma once

#include <algorithm>
#include <cstdint>

#include "agreement/description.hpp"
#include "agreement/failure.hpp"

namespace steadfold::agreement {

/// The largest number of rows of `row_bytes` bytes that a call may have. No memory can hold more rows.
constexpr Count most_rows(Bytes row_bytes) noexcept { return order::most_elements / std::max<Bytes>(row_bytes, 1); }

/// Throws Failure if no memory can hold the rows of the call.
void require_size(const Call& call);
/// Throws Failure if a call cannot have this number of threads.
void require_threads(unsigned threads);
/// Throws Failure if an argument makes the call invalid, whichever rank makes it (`rank_count` bounds the root).
void validate(const Call& call, Rank rank_count);

/// The first pointer that a call needs and that is null.
enum class Missing : std::uint8_t { nothing, first, second, mask, label, result };
/// `rows` are this rank's rows. `is_due` says that this rank gets a result.
Missing missing(const Description& description, Count rows, const Data& data, bool is_due) noexcept;
/// The failure that names the missing pointer. Not for `nothing`.
Failure failure_of(Missing missing, arithmetic::Operation operation, Count rows);

}  // namespace steadfold::agreement
