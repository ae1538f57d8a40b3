#include "oracle.hpp"

#include "types.hpp"

namespace steadfold::soak {
namespace {

template <class T>
void fill(std::byte* out, std::uint64_t count, T value) {
  for (std::uint64_t i = 0; i < count; ++i) write_result(out + i * sizeof value, value);
}

/// Writes the result of no rows: 0 or 1 in the result's type.
void write_neutral(const Member& m, std::byte* out) {
  const int value = m.operation == SF_PRODUCT ? 1 : 0;
  const std::uint64_t count = m.columns;
  switch (m.result_type) {
    case SF_F64: return fill(out, count, static_cast<double>(value));
    case SF_F32: return fill(out, count, static_cast<float>(value));
    case SF_I32:
    case SF_U32: return fill(out, count, static_cast<std::uint32_t>(value));
    case SF_I64:
    case SF_U64: return fill(out, count, static_cast<std::uint64_t>(value));
    case SF_LONG_DOUBLE: return fill(out, count, static_cast<long double>(value));
    case SF_FLOAT128: return fill(out, count, static_cast<Binary128>(value));
    case SF_COMPLEX_F32:
      for (std::uint64_t i = 0; i < count; ++i) write_result(out + 8 * i, static_cast<float>(value));
      return;
    case SF_COMPLEX_F64:
      for (std::uint64_t i = 0; i < count; ++i) write_result(out + 16 * i, static_cast<double>(value));
      return;
    default: return;
  }
}

/// The tree over the initial value, once for each column, and the result of the rows; over the initial value alone
/// without rows.
Expected with_initial(const Member& m, const Expected& of_rows, std::uint64_t rows) {
  Member two = m;
  two.initial.clear();
  two.array = {};
  two.lanes = 0;
  two.type = m.result_type;
  if (m.operation == SF_DOT || m.operation == SF_DOTC) two.operation = SF_SUM;
  Elements elements;
  for (std::uint64_t column = 0; column < m.columns; ++column)
    elements.first.insert(elements.first.end(), m.initial.begin(), m.initial.end());
  if (rows > 0) elements.first.insert(elements.first.end(), of_rows.bytes.begin(), of_rows.bytes.end());
  return reduced(two, elements, rows > 0 ? 2 : 1);
}

}  // namespace

Expected reduced(const Member& m, const Elements& all, std::uint64_t rows) {
  if (!m.initial.empty()) {
    Member plain = m;
    plain.initial.clear();
    return with_initial(m, reduced(plain, all, rows), rows);
  }
  if (m.selects()) return reduced_selected(m, all, rows);
  Expected result;
  if (rows == 0 && !m.has_neutral()) return {.status = SF_EMPTY, .bytes = {}};
  result.bytes.resize(m.columns * m.result_bytes());
  if (m.operation == SF_STATISTICS) {
    describe_columns(m, all, rows, result.bytes.data());
  } else if (rows == 0) {
    write_neutral(m, result.bytes.data());
  } else if (m.operation == SF_MIN_LOCATION || m.operation == SF_MAX_LOCATION) {
    locate(m, all, rows, result.bytes.data());
  } else if (m.resolved_method() == SF_EXACT || m.resolved_method() == SF_BINNED) {
    reduce_once_rounded(m, all, rows, result.bytes.data());
  } else {
    reduce_by_tree(m, all, rows, result.bytes.data());
  }
  return result;
}

std::vector<Expected> expected_of(const Member& m, const Elements& all) {
  if (m.collective != SF_SCAN && m.collective != SF_EXSCAN) return {reduced(m, all, m.rows)};
  std::vector<Expected> of_ranks;
  std::uint64_t before = 0;
  for (std::size_t rank = 0; rank < m.deal.size(); ++rank) {
    const std::uint64_t end = before + m.rows_of(rank);
    of_ranks.push_back(reduced(m, all, m.collective == SF_SCAN ? end : before));
    before = end;
  }
  return of_ranks;
}

}  // namespace steadfold::soak
