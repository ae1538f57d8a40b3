// Two forms of a kept sum as bytes: one for files, the same on every machine and as short as the sum is, and one of
// fixed size for messages, which merges as it is, in any order, to the same bytes.
// Cost: 44 bytes, and per column 12 and the non-zero digits (files); 32 bytes, and per column 16 and all digits with 32
// bits above them (messages).
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
/// `out` has that many bytes.
void write_file(const ExactState& state, std::span<std::byte> out) noexcept;
/// Null if no state of this version was written so; `wrong` is "problem (why), suggestion". Reads no byte outside, and
/// allocates as much as the bytes stand for, only if their sum is right.
std::unique_ptr<ExactState> read_file(std::span<const std::byte> bytes, std::string& wrong);

// For messages between machines of one byte order: a state of a shape always has the same size. The sums of 2^31 states
// fit, whatever the order. What cannot be merged becomes a message of the same size that says so.

Bytes message_bytes(const StateShape& shape) noexcept;
/// `out` has that many bytes.
void write_message(const ExactState& state, std::span<std::byte> out) noexcept;
/// into = into + from; of the same size, any bytes. Associative and commutative, bytes and faults alike.
void merge_messages(std::span<const std::byte> from, std::span<std::byte> into) noexcept;
/// Makes the state what the message says. False, with the state as it was, if it is of another shape or damaged, or if
/// the sum has too many digits.
bool read_message(std::span<const std::byte> message, ExactState& state, std::string& wrong);

}  // namespace steadfold::arithmetic
