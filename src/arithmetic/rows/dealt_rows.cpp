#include "arithmetic/rows/dealt_rows.hpp"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "arithmetic/partial.hpp"

namespace steadfold::arithmetic {

using order::Bytes;
using order::Count;

namespace {

static_assert(ColumnBuilders::no_column == std::numeric_limits<std::uint32_t>::max());

/// Calls `visit` with a label of the type that the labels have.
template <class Visit>
bool with_label(const Labels& how, const Visit& visit) {
  switch (how.bytes) {
    case 1: return visit(std::uint8_t{});
    case 2: return visit(std::uint16_t{});
    case 4: return how.is_signed ? visit(std::int32_t{}) : visit(std::uint32_t{});
    default: return how.is_signed ? visit(std::int64_t{}) : visit(std::uint64_t{});
  }
}

/// Whether a row belongs to no group: its mask is 0, or its label is negative.
template <class Label>
bool is_left_out(const std::byte* mask, Count row, Label label) noexcept {
  return (mask != nullptr && mask[row] == std::byte{0}) || (std::is_signed_v<Label> && label < Label{0});
}

template <Bytes bytes>
void gather_elements(const std::byte* from, std::span<const std::uint32_t> order, std::byte* to) noexcept {
  for (std::size_t i = 0; i < order.size(); ++i) std::memcpy(to + i * bytes, from + order[i] * bytes, bytes);
}

}  // namespace

/// Counts the rows of each group. The count is stored as the end of the group's rows.
template <class Label>
bool DealtRows::find_runs(const std::byte* labels, const std::byte* mask, Count rows, Count groups,
                          const order::Interval& wanted) {
  const Count first = wanted.begin;
  const Count count = wanted.size();
  for (Count i = 0; i < rows; ++i) {
    Label label;
    std::memcpy(&label, labels + i * sizeof label, sizeof label);
    run_of_row_[i] = no_run;
    if (is_left_out(mask, i, label)) continue;
    const auto group = static_cast<Count>(label);
    if (group >= groups) return false;
    if (group - first >= count) continue;  // groups below `first` wrap around to large numbers
    std::uint32_t& run = run_of_group_[group - first];
    if (run == no_run) {
      runs_.push_back({.group = group, .begin = 0, .end = 0});
      run = static_cast<std::uint32_t>(runs_.size() - 1);
    }
    run_of_row_[i] = run;
    ++runs_[run].end;
  }
  return true;
}

bool DealtRows::sort(const std::byte* labels, const std::byte* mask, Count rows, const Labels& how,
                     const order::Interval& wanted) {
  run_of_group_.resize(wanted.size(), no_run);
  run_of_row_.resize(rows);
  runs_.clear();
  // Reserved now, because nothing may fail until the group's entries are reset.
  runs_.reserve(std::min<Count>(rows, wanted.size()));
  const auto find = [&]<class Label>(Label) { return find_runs<Label>(labels, mask, rows, how.groups, wanted); };
  const bool are_known = with_label(how, find);
  for (const GroupRun& run : runs_) run_of_group_[run.group - wanted.begin] = no_run;
  if (!are_known) runs_.clear();
  Count begin = 0;
  for (GroupRun& run : runs_) {
    run.begin = begin;
    begin += run.end;
    run.end = run.begin;
  }
  order_.resize(begin);
  if (!are_known) return false;
  for (Count i = 0; i < rows; ++i)
    if (run_of_row_[i] != no_run) order_[runs_[run_of_row_[i]].end++] = static_cast<std::uint32_t>(i);
  return true;
}

bool DealtRows::find_columns(const std::byte* labels, const std::byte* mask, Count rows, const Labels& how,
                             Count in_group, const order::Interval& wanted) {
  run_of_row_.resize(rows);
  std::uint32_t* const columns = run_of_row_.data();
  return with_label(how, [&, first = in_group - wanted.begin, count = wanted.size()]<class Label>(Label /*label*/) {
    bool are_known = true;
    for (Count i = 0; i < rows; ++i) {
      Label label;
      std::memcpy(&label, labels + i * sizeof label, sizeof label);
      const bool is_out = is_left_out(mask, i, label);
      const auto group = static_cast<Count>(label);
      const Count column = group * how.columns + first;  // columns below `wanted` wrap around to large numbers
      are_known &= is_out | (group < how.groups);
      columns[i] = (is_out | (column >= count)) ? no_run : static_cast<std::uint32_t>(column);
    }
    return are_known;
  });
}

void DealtRows::gather(const std::byte* elements, Bytes bytes, std::vector<std::byte>& to) const {
  to.resize(order_.size() * bytes);
  switch (bytes) {
    case 2: return gather_elements<2>(elements, order_, to.data());
    case 4: return gather_elements<4>(elements, order_, to.data());
    case 8: return gather_elements<8>(elements, order_, to.data());
    default: break;
  }
  for (std::size_t i = 0; i < order_.size(); ++i)
    std::memcpy(to.data() + i * bytes, elements + order_[i] * bytes, bytes);
}

}  // namespace steadfold::arithmetic
