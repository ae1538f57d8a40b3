// Whether a call can be made: its arguments, its size, its data.
#pragma once

#include <algorithm>
#include <cstdint>

#include "agreement/description.hpp"
#include "agreement/failure.hpp"

namespace steadfold::agreement {

/// The most rows of `row_bytes` bytes that a call may have: more than any memory holds.
constexpr Count most_rows(Bytes row_bytes) noexcept { return order::most_elements / std::max<Bytes>(row_bytes, 1); }

/// Throws Failure if no memory holds the rows of the call.
void require_size(const Call& call);
/// Throws Failure if no call may have so many threads.
void require_threads(unsigned threads);
/// Throws Failure if no rank can make this call: an argument is unusable (`rank_count` bounds the root).
void validate(const Call& call, Rank rank_count);

/// The first pointer that a call needs and does not have.
enum class Missing : std::uint8_t { nothing, first, second, mask, label, result };
/// `rows` are this rank's; `is_due`: it gets a result.
Missing missing(const Description& description, Count rows, const Data& data, bool is_due) noexcept;
/// The failure that says what is missing. Not for `nothing`.
Failure failure_of(Missing missing, arithmetic::Operation operation, Count rows);

}  // namespace steadfold::agreement
