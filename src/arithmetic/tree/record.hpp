// The bytes of a tree record, written and parsed: a prefix, the intervals, then the values of their nodes.
// Rank order: intervals ascend. Cost: O(intervals).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <vector>

#include "arithmetic/partial.hpp"
#include "order/index.hpp"
#include "order/interval.hpp"

namespace steadfold::arithmetic::tree_record {

using order::Interval;

struct Prefix {
  Header header;
  std::uint32_t interval_count = 0;
  std::uint32_t reserved = 0;
  std::uint64_t node_count = 0;
};
static_assert(sizeof(Prefix) == 32);

constexpr Bytes head_of(Count interval_count) { return sizeof(Prefix) + interval_count * sizeof(Interval); }

constexpr Bytes record_bytes(Count interval_count, Count node_count, Bytes stride) {
  return head_of(interval_count) + node_count * stride;
}

/// A parsed record.
struct Record {
  const std::byte* values = nullptr;
  std::span<const Interval> intervals;
  Count node_count = 0;
};

inline bool is_node(Interval interval) {
  return !interval.empty() && (interval.size() & (interval.size() - 1)) == 0 &&
         (interval.begin & (interval.size() - 1)) == 0;
}

/// Whether the intervals are in ascending order, do not touch, and have as many values as the record says.
/// `count(interval)` is the number of values of an interval.
template <class CountValues>
bool is_sound(const Record& record, const CountValues& count) {
  Count values = 0;
  order::Index end = 0;
  for (const Interval interval : record.intervals) {
    if (interval.empty() || (values > 0 && interval.begin <= end)) return false;
    end = interval.end;
    values += count(interval);
  }
  return values == record.node_count;
}
inline bool is_sound(const Record& record) {
  if (record.intervals.size() == 1 && record.node_count == 1) return is_node(record.intervals.front());
  return is_sound(record, [](Interval interval) { return order::node_count(interval); });
}

/// Parses a record. Returns `nullopt` if the bytes are not a valid record, according to `is_sound`. The bytes may come
/// from another rank.
template <class IsSound>
std::optional<Record> parse(const Partial& partial, Bytes stride, const IsSound& is_sound) {
  const std::span<const std::byte> bytes = partial.head;
  Prefix prefix;
  if (bytes.size() < sizeof prefix) return std::nullopt;
  std::memcpy(&prefix, bytes.data(), sizeof prefix);
  const bool is_whole = partial.values == nullptr;
  if (is_whole && stride > 0 && prefix.node_count > bytes.size() / stride) return std::nullopt;
  const Bytes head = head_of(prefix.interval_count);
  if (head + (is_whole ? prefix.node_count * stride : 0) != bytes.size()) return std::nullopt;
  const Record record{is_whole ? bytes.data() + head : partial.values,
                      {reinterpret_cast<const Interval*>(bytes.data() + sizeof prefix), prefix.interval_count},
                      prefix.node_count};
  return is_sound(record) ? std::optional(record) : std::nullopt;
}
inline std::optional<Record> parse(const Partial& partial, Bytes stride) {
  return parse(partial, stride, [](const Record& record) { return is_sound(record); });
}

/// Checks that a record has the rows 0, ..., element_count - 1, each once.
inline Status check_whole(const Record& record, Count element_count) noexcept {
  if (record.intervals.empty()) return check_row_count(0, element_count);
  if (record.intervals.size() > 1 || record.intervals.front().begin != 0) return Status::gap;
  return check_row_count(record.intervals.front().end, element_count);
}

/// Rows that a builder got one after the other, and the position of their first value in the builder's memory.
struct Run {
  Interval rows;
  Count first;
};
inline void sort(std::vector<Run>& runs) {
  const auto ascending = [](const Run& a, const Run& b) { return a.rows.begin < b.rows.begin; };
  if (!std::is_sorted(runs.begin(), runs.end(), ascending)) std::sort(runs.begin(), runs.end(), ascending);
}

/// Calls `visit(interval, values)` for the intervals of two records in ascending order. `visit` returns the end of
/// the values of the interval; if it reads no values, it may return any pointer.
template <class Visit>
void visit_both(const Record& left, const Record& right, Visit visit) {
  auto a = left.intervals.begin();
  auto b = right.intervals.begin();
  const std::byte* a_values = left.values;
  const std::byte* b_values = right.values;
  while (a != left.intervals.end() || b != right.intervals.end()) {
    const bool from_left = b == right.intervals.end() || (a != left.intervals.end() && a->begin <= b->begin);
    auto& interval = from_left ? a : b;
    const std::byte*& values = from_left ? a_values : b_values;
    values = visit(*interval, values);
    ++interval;
  }
}

/// Writes a record's head for one interval or several. Returns its size.
inline Bytes write_head(std::span<std::byte> out, const Header& header, std::span<const Interval> intervals,
                        Count nodes) {
  const Prefix prefix{
      .header = header, .interval_count = static_cast<std::uint32_t>(intervals.size()), .node_count = nodes};
  std::memcpy(out.data(), &prefix, sizeof prefix);
  if (!intervals.empty()) std::memcpy(out.data() + sizeof prefix, intervals.data(), intervals.size_bytes());
  return head_of(intervals.size());
}

/// A record whose head says that it has one interval and one node. The caller must check that the interval is a node.
struct SingleNode {
  const std::byte* head = nullptr;
  Interval interval;
  const std::byte* value = nullptr;  // null: the record has another form
};

/// Reads a record's fields one by one. The fields were written one by one a moment ago, and a wider load would wait for
/// all of these stores.
inline SingleNode single_node(const Partial& partial, Bytes stride) {
  const bool is_whole = partial.values == nullptr;
  if (partial.head.size() != head_of(1) + (is_whole ? stride : 0)) return {};
  const std::byte* const head = partial.head.data();
  const auto field = [head](Bytes at) {
    std::uint64_t word = 0;
    std::memcpy(&word, head + at, sizeof word);
    return word;
  };
  const auto status = static_cast<Status>(static_cast<std::uint32_t>(field(offsetof(Header, status))));
  const bool is_one =
      status == Status::ok && field(offsetof(Prefix, interval_count)) == 1 && field(offsetof(Prefix, node_count)) == 1;
  if (!is_one) return {};
  const Interval interval{field(sizeof(Prefix) + offsetof(Interval, begin)),
                          field(sizeof(Prefix) + offsetof(Interval, end))};
  return {head, interval, is_whole ? head + head_of(1) : partial.values};
}

inline std::uint64_t digest_of(const SingleNode& node) {
  std::uint64_t digest = 0;
  std::memcpy(&digest, node.head + offsetof(Header, digest), sizeof digest);
  return digest;
}

/// Whether two touching intervals, the lower one first, are the children of one node.
inline bool are_siblings(const Interval& lower, const Interval& upper) {
  const Count size = lower.end - lower.begin;
  return size != 0 && (size & (size - 1)) == 0 && (lower.begin & (2 * size - 1)) == 0 && lower.end == upper.begin &&
         upper.end - upper.begin == size;
}

/// Returns the address of `bytes` bytes of values after a head with `interval_count` intervals; null if there is no
/// room.
inline std::byte* room_for_values(const Room& out, Count interval_count, Bytes bytes) {
  const Bytes head = head_of(interval_count);
  if (head > out.head.size()) return nullptr;
  const std::span<std::byte> values = out.values.empty() ? out.head.subspan(head) : out.values;
  return bytes > values.size() ? nullptr : values.data();
}

/// Returns the written record: its head in `out`, its values at `values`.
inline Partial written(const Room& out, Count interval_count, const std::byte* values, Bytes value_bytes) {
  const Bytes head = head_of(interval_count);
  if (out.values.empty()) return out.head.first(head + value_bytes);
  return {out.head.first(head), values};
}

}  // namespace steadfold::arithmetic::tree_record
