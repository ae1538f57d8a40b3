// A record of two exact sums of one column behind a prefix, for results that both decide.
// Rank order: none. Cost: that of the sums. Source: ours.
//
// The record: a Prefix, which begins with a Header and has `Bytes first_bytes`, the record of the first sum, and from a
// multiple of 8 bytes on that of the second. A failed one is a header alone.
#pragma once

#include <cstring>
#include <span>

#include "arithmetic/accumulator.hpp"
#include "arithmetic/exact_record.hpp"
#include "arithmetic/partial.hpp"

namespace steadfold::arithmetic::two_sums {

/// A record taken apart.
template <class Prefix>
struct Parts {
  explicit Parts(std::span<const std::byte> record) noexcept {
    if (record.size() < sizeof prefix) return;
    std::memcpy(&prefix, record.data(), sizeof prefix);
    const auto sums = record.subspan(sizeof prefix);
    are_there = prefix.first_bytes <= sums.size() && padded(prefix.first_bytes) <= sums.size();
    if (!are_there) return;
    first = sums.first(prefix.first_bytes);
    second = sums.subspan(padded(prefix.first_bytes));
  }

  Prefix prefix;
  bool are_there = false;
  std::span<const std::byte> first;
  std::span<const std::byte> second;
};

/// Writes a record: behind the prefix what `write_first` and `write_second` write into the room they get.
template <class Prefix, class WriteFirst, class WriteSecond>
Bytes write(std::span<std::byte> out, Prefix prefix, const WriteFirst& write_first, const WriteSecond& write_second) {
  const auto fail = [&](Status status) {
    return out.size() < sizeof(Header) ? 0 : write_failure(out, prefix.header, status);
  };
  if (prefix.header.status != Status::ok) return fail(prefix.header.status);
  if (out.size() < sizeof prefix) return fail(Status::transport_failed);
  const auto sums = out.subspan(sizeof prefix);
  prefix.first_bytes = write_first(sums);
  const Bytes second_at = padded(prefix.first_bytes);
  if (prefix.first_bytes < sizeof(Header) || second_at > sums.size()) return fail(Status::transport_failed);
  if (const Status status = status_of(sums.first(prefix.first_bytes)); status != Status::ok) return fail(status);
  std::memset(sums.data() + prefix.first_bytes, 0, second_at - prefix.first_bytes);
  const auto rest = sums.subspan(second_at);
  const Bytes second_bytes = write_second(rest);
  if (second_bytes < sizeof(Header)) return fail(Status::transport_failed);
  if (const Status status = status_of(rest.first(second_bytes)); status != Status::ok) return fail(status);
  std::memcpy(out.data(), &prefix, sizeof prefix);
  return sizeof prefix + second_at + second_bytes;
}

/// A sum as its record has it.
struct Sum {
  Flags flags = no_flags;
  Count rows = 0;
  Window window;
};

/// Reads the record of one column; false if it is none, or of more rows than there can be.
inline bool read(std::span<const std::byte> record, int digit_count, Sum& sum) noexcept {
  exact_record::Reader reader(record, digit_count);
  if (!reader.next(sum.flags, sum.window) || !reader.at_end()) return false;
  sum.rows = reader.rows();
  return sum.rows >> 63 == 0;
}

}  // namespace steadfold::arithmetic::two_sums
