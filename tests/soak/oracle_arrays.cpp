// Reductions of elements that a mask or labels select. The elements of each result are gathered and reduced separately.
// Source: docs/guarantees.md.
#include <algorithm>
#include <cstddef>
#include <limits>

#include "oracle.hpp"
#include "types.hpp"

namespace steadfold::soak {
namespace {

/// The elements of one result, and their rows.
struct Gathered {
  Elements elements;
  std::vector<std::uint64_t> rows;
};

Gathered gather(const Member& m, const Elements& all, std::uint64_t rows, std::uint64_t result) {
  const std::uint64_t columns = m.data_columns();
  const std::uint64_t column = result % columns;
  const auto group = static_cast<std::int64_t>(result / columns);
  const std::size_t bytes = m.element_bytes();
  Gathered own;
  for (std::uint64_t row = 0; row < rows; ++row) {
    const std::uint64_t i = row * columns + column;
    if (m.array.has_mask && !all.mask[i]) continue;
    if (m.array.groups > 0 && all.labels[i] != group) continue;
    own.rows.push_back(row);
    const auto copy = [&](const std::vector<std::byte>& from, std::vector<std::byte>& to) {
      const auto at = from.begin() + static_cast<std::ptrdiff_t>(i * bytes);
      to.insert(to.end(), at, at + static_cast<std::ptrdiff_t>(bytes));
    };
    copy(all.first, own.elements.first);
    if (m.has_factors()) copy(all.second, own.elements.second);
  }
  return own;
}

/// Writes a result without elements, if other results have elements: NaN, without an index. Returns false if there is
/// no such value.
bool write_none(const Member& m, std::byte* out) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  const sf_type part = part_of(m.result_type);
  const bool has_nan = part == SF_F64 || part == SF_F32;
  const bool is_extreme = m.operation == SF_MIN || m.operation == SF_MAX;
  if (!is_location(m.operation) &&
      !(has_nan && (is_extreme || m.operation == SF_MEAN || is_quotient_of_pairs(m.operation))))
    return false;
  for (std::size_t at = 0; has_nan && at < size_of(m.result_type); at += size_of(part))
    part == SF_F32 ? write_result(out + at, static_cast<float>(nan)) : write_result(out + at, nan);
  if (is_location(m.operation)) write(out + 8, ~std::uint64_t{0});
  return true;
}

/// Replaces indices of gathered rows by indices in the whole job.
void name_rows(const Member& m, const std::vector<std::uint64_t>& rows, std::byte* out) {
  const auto rename = [&](std::size_t at) {
    const auto index = read<std::uint64_t>(out + at);
    if (index < rows.size()) write(out + at, rows[index]);
  };
  if (is_location(m.operation)) rename(8);
  if (m.operation == SF_STATISTICS) {
    rename(offsetof(sf_statistics, min_index));
    rename(offsetof(sf_statistics, max_index));
  }
}

}  // namespace

Expected reduced_selected(const Member& m, const Elements& all, std::uint64_t rows) {
  Member one = m;
  one.columns = 1;
  one.array = {};
  Expected whole;
  whole.bytes.resize(m.columns * m.result_bytes());
  for (std::uint64_t result = 0; result < m.columns; ++result) {
    std::byte* const out = whole.bytes.data() + result * m.result_bytes();
    const Gathered own = gather(m, all, rows, result);
    const Expected alone = reduced(one, own.elements, own.rows.size());
    if (alone.status == SF_OK)
      std::copy(alone.bytes.begin(), alone.bytes.end(), out);
    else if (!m.has_own_rows() || !write_none(m, out))
      return {.status = alone.status, .bytes = {}};
    name_rows(m, own.rows, out);
  }
  return whole;
}

}  // namespace steadfold::soak
