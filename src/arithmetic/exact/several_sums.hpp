// A record of several exact sums of one column after a prefix, for results that depend on all of these sums.
// Rank order: irrelevant. Cost: that of the sums.
//
// The record begins with a Prefix: a Header, the fields of a kind, and the array `sum_bytes`, the sizes of all sums
// except the last one. The records of the sums follow, each at a multiple of 8 bytes. The record of a failure is only a
// header.
#pragma once

#include <array>
#include <cstring>
#include <span>
#include <tuple>

#include "arithmetic/exact/moments.hpp"
#include "arithmetic/exact/record.hpp"
#include "arithmetic/partial.hpp"
#include "arithmetic/superaccumulator/accumulator.hpp"

namespace steadfold::arithmetic::several_sums {

template <class Prefix>
inline constexpr std::size_t sum_count = std::tuple_size_v<decltype(Prefix::sum_bytes)> + 1;

/// The prefix of a kind without fields of its own, for `count` sums.
template <std::size_t count>
struct PrefixOfSums {
  Header header;
  std::array<Bytes, count - 1> sum_bytes{};
};

/// A parsed record. `status` is that of the record, or transport_failed if the record is incomplete. The prefix and the
/// sums are valid only if it is ok.
template <class Prefix>
struct Parts {
  explicit Parts(std::span<const std::byte> record) noexcept : status(status_of(record)) {
    if (status == Status::ok && !read(record)) status = Status::transport_failed;
  }

  Prefix prefix;
  std::array<std::span<const std::byte>, sum_count<Prefix>> sums;
  Status status;

 private:
  /// Returns false if the record is incomplete.
  bool read(std::span<const std::byte> record) noexcept {
    if (record.size() < sizeof prefix) return false;
    std::memcpy(&prefix, record.data(), sizeof prefix);
    auto rest = record.subspan(sizeof prefix);
    for (std::size_t i = 0; i + 1 < sums.size(); ++i) {
      const Bytes bytes = prefix.sum_bytes[i];
      if (bytes > rest.size() || padded(bytes) > rest.size()) return false;
      sums[i] = rest.first(bytes);
      rest = rest.subspan(padded(bytes));
    }
    sums.back() = rest;
    return true;
  }
};

/// Writes a record: the prefix, and behind it each sum. `write_sum(i, room)` writes sum i into `room`.
template <class Prefix, class WriteSum>
Bytes write(std::span<std::byte> out, Prefix prefix, const WriteSum& write_sum) {
  const auto fail = [&](Status status) {
    return out.size() < sizeof(Header) ? 0 : write_failure(out, prefix.header, status);
  };
  if (prefix.header.status != Status::ok) return fail(prefix.header.status);
  if (out.size() < sizeof prefix) return fail(Status::transport_failed);
  auto rest = out.subspan(sizeof prefix);
  for (std::size_t i = 0; i < sum_count<Prefix>; ++i) {
    const bool is_last = i + 1 == sum_count<Prefix>;
    const Bytes bytes = write_sum(i, rest);
    const Bytes next_at = is_last ? bytes : padded(bytes);
    if (bytes < sizeof(Header) || next_at > rest.size()) return fail(Status::transport_failed);
    if (const Status status = status_of(rest.first(bytes)); status != Status::ok) return fail(status);
    std::memset(rest.data() + bytes, 0, next_at - bytes);
    rest = rest.subspan(next_at);
    if (!is_last) prefix.sum_bytes[i] = bytes;
  }
  std::memcpy(out.data(), &prefix, sizeof prefix);
  return out.size() - rest.size();
}

/// Merges records: the sums with `merge_sum(i, left, right, out)`, which returns the size of the merged sum, and the
/// prefixes with `merged_prefix(header, left, right)`.
template <class Prefix, class MergeSum, class MergedPrefix>
Partial merge(const Partial& left, const Partial& right, const Room& room, const MergeSum& merge_sum,
              const MergedPrefix& merged_prefix) {
  const MergedHeader merged = merge_headers(left.head, right.head);
  if (room.head.size() < sizeof(Header)) return {};
  if (!merged.ok) return failed(room, merged.header, merged.header.status);
  const Parts<Prefix> a(left.head);
  const Parts<Prefix> b(right.head);
  if (a.status != Status::ok || b.status != Status::ok) return failed(room, merged.header, Status::transport_failed);
  const auto write_merged = [&](std::size_t i, std::span<std::byte> out) {
    return merge_sum(i, a.sums[i], b.sums[i], out);
  };
  return room.head.first(write(room.head, merged_prefix(merged.header, a.prefix, b.prefix), write_merged));
}

/// Reads the record of one column. Returns false if it is invalid, or has more rows than possible.
inline bool read(std::span<const std::byte> record, int digit_count, ExactSum& sum) noexcept {
  exact_record::Reader reader(record, digit_count);
  if (!reader.next(sum.flags, sum.range) || !reader.at_end()) return false;
  sum.rows = reader.rows();
  return sum.rows >> 63 == 0;
}

}  // namespace steadfold::arithmetic::several_sums
