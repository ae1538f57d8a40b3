// Two formats of a kept sum. The format for files is the same on every machine and as short as the sum is. The format
// for messages has a fixed size, and messages can be merged in any order, to the same bytes.
// Cost: for files 44 bytes, and per column 12 and the non-zero digits; for messages 32 bytes, and per column 16 and all
// digits with 32 bits above them.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "arithmetic/exact/state.hpp"

namespace steadfold::arithmetic {

// For files, all numbers little-endian:
//
//   "SFAC"  u16 version  u8 type (0: doubles, 1: floats)  u8 factors  u64 columns  i64 rows
//   per column:  i64 terms that are -0.0  u8 special (1 NaN, 2 +inf, 4 -inf)  u8 lowest  u8 count  u8 negative
//                u32 digit, `count` times
//   u32 CRC-32 (that of IEEE 802.3) of all bytes before
//
// A column is the sum of digit[i] 2^(32 (lowest + i)), less 2^(32 (lowest + count)) if negative, in units of 2^-1074,
// floats 2^-149, their products 2^-2148 and 2^-298. No digit at either end could be left out: equal states have equal
// bytes.
inline constexpr std::uint16_t state_version = 1;

Bytes file_bytes(const ExactState& state) noexcept;
/// Writes the format for files. `out` must have `file_bytes` bytes.
void write_file(const ExactState& state, std::span<std::byte> out) noexcept;
/// Reads a state. Returns null if no state of this version can have been written as these bytes; `wrong` is then
/// "problem (why), suggestion". Reads no other memory. Allocates in proportion to the bytes, and only if the checksum
/// is right.
std::unique_ptr<ExactState> read_file(std::span<const std::byte> bytes, std::string& wrong);

// Returns the size of a message between machines of the same byte order. All states of a shape have messages of the
// same size. The sums of 2^31 states fit, in any order. If messages cannot be merged, the result is a message of the
// same size that says so.

Bytes message_bytes(const StateShape& shape) noexcept;
/// Writes a message. `out` must have `message_bytes` bytes.
void write_message(const ExactState& state, std::span<std::byte> out) noexcept;
/// Computes into = into + from, for any bytes of the same size. Associative and commutative, for sums and for faults.
void merge_messages(std::span<const std::byte> from, std::span<std::byte> into) noexcept;
/// Sets the state to the sums of the message. Returns false, and does not change the state, if the message has another
/// shape, is damaged, or has a sum with too many digits.
bool read_message(std::span<const std::byte> message, ExactState& state, std::string& wrong);

}  // namespace steadfold::arithmetic
