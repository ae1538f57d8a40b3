// Method tree, level by level: neighbours are combined, and a last odd value passes through unchanged. Operations whose
// result does not depend on the order are computed in the same way. Source: docs/guarantees.md; IEEE 754-2019, section
// 9.6, for minimum and maximum.
#include <algorithm>
#include <array>
#include <cmath>
#include <type_traits>

#include "operators.hpp"
#include "oracle.hpp"
#include "types.hpp"

namespace steadfold::soak {
namespace {

/// Folds `rows` rows of `width` values into the first row.
template <class T, class Op>
void fold_tree(std::vector<T>& values, std::uint64_t rows, std::uint64_t width, const Op& op) {
  for (; rows > 1; rows = (rows + 1) / 2) {
    for (std::uint64_t i = 0; i < rows / 2; ++i)
      for (std::uint64_t c = 0; c < width; ++c)
        values[i * width + c] = op(values[2 * i * width + c], values[(2 * i + 1) * width + c]);
    if (rows % 2 != 0)
      for (std::uint64_t c = 0; c < width; ++c) values[rows / 2 * width + c] = values[(rows - 1) * width + c];
  }
}

/// The same, with lanes: row i is in lane i % lanes, and the results of the lanes are folded last.
template <class T, class Op>
void fold(std::vector<T>& values, std::uint64_t rows, std::uint64_t width, std::uint64_t lanes, const Op& op) {
  if (lanes == 1) return fold_tree(values, rows, width, op);
  std::vector<T> of_lanes;
  for (std::uint64_t lane = 0; lane < std::min(lanes, rows); ++lane) {
    std::vector<T> own;
    std::uint64_t count = 0;
    for (std::uint64_t i = lane; i < rows; i += lanes, ++count)
      for (std::uint64_t c = 0; c < width; ++c) own.push_back(values[i * width + c]);
    fold_tree(own, count, width, op);
    for (std::uint64_t c = 0; c < width; ++c) of_lanes.push_back(own[c]);
  }
  fold_tree(of_lanes, std::min(lanes, rows), width, op);
  values = of_lanes;
}

template <class T>
bool is_nan(T x) {
  return x != x;
}
template <class T>
bool is_negative(T x) {
  if constexpr (std::is_integral_v<T>)
    return x < T{0};
  else
    return __builtin_signbit(x) != 0;
}

template <class T>
T lesser(T a, T b, bool least) {
  if (is_nan(a)) return a;
  if (is_nan(b)) return b;
  if (a == b) return is_negative(a) == least ? a : b;  // -0 is less than +0
  return (a < b) == least ? a : b;
}

template <class T>
T sum(T a, T b) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
  else
    return a + b;
}
template <class T>
T product(T a, T b) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
  else
    return a * b;
}

std::uint64_t lanes_of(const Member& m) { return std::max<std::uint64_t>(m.lanes, 1); }

template <class T>
void fold_by(const Member& m, std::vector<T>& values, std::uint64_t rows, std::uint64_t width) {
  const std::uint64_t lanes = lanes_of(m);
  switch (m.operation) {
    case SF_PRODUCT: return fold(values, rows, width, lanes, product<T>);
    case SF_MIN: return fold(values, rows, width, lanes, [](T a, T b) { return lesser(a, b, true); });
    case SF_NORMINF:
    case SF_MAX: return fold(values, rows, width, lanes, [](T a, T b) { return lesser(a, b, false); });
    default: return fold(values, rows, width, lanes, sum<T>);
  }
}

/// Converts an element to the result's type, exactly.
template <class T>
T converted(sf_type type, const std::byte* at) {
  switch (type) {
    case SF_I32: return static_cast<T>(read<std::int32_t>(at));
    case SF_U32: return static_cast<T>(read<std::uint32_t>(at));
    case SF_I64: return static_cast<T>(read<std::int64_t>(at));
    case SF_U64: return static_cast<T>(read<std::uint64_t>(at));
    case SF_LONG_DOUBLE: return static_cast<T>(read<long double>(at));
    case SF_FLOAT128: return static_cast<T>(read<Binary128>(at));
    default: return static_cast<T>(value_of(type, at));
  }
}

template <class T>
void reduce_as(const Member& m, const Elements& all, std::uint64_t rows, std::byte* out) {
  const sf_type part = part_of(m.type);
  const std::uint64_t width = m.columns * (is_complex(m.type) ? 2 : 1);
  std::vector<T> values;
  std::uint64_t kept = 0;
  for (std::uint64_t i = 0; i < rows; ++i) {
    if (m.operation == SF_MASKED_SUM && all.second[i] == std::byte{0}) continue;
    ++kept;
    for (std::uint64_t c = 0; c < width; ++c) {
      T x = converted<T>(part, all.first.data() + (i * width + c) * size_of(part));
      if constexpr (!std::is_integral_v<T>)
        if ((m.operation == SF_ABS_SUM || m.operation == SF_NORMINF) && is_negative(x)) x = -x;
      values.push_back(x);
    }
  }
  if (kept == 0) values.assign(width, T{0});  // a mask that selects nothing
  fold_by(m, values, kept, width);
  for (std::uint64_t c = 0; c < width; ++c) write_result(out + c * sizeof(T), values[c]);
}

/// The terms of dot products, norms and means, rounded after each operation to the type of the result.
template <class T>
std::vector<T> rounded_terms(const Member& m, const Elements& all, std::uint64_t rows) {
  const sf_type part = part_of(m.type);
  const auto at = [part](const std::vector<std::byte>& numbers, std::uint64_t i) {
    return converted<T>(part, numbers.data() + i * size_of(part));
  };
  const std::uint64_t count = rows * m.columns;
  std::vector<T> terms;
  for (std::uint64_t i = 0; i < (is_complex(m.type) ? 2 * count : count); ++i) {
    const T x = at(all.first, i);
    if (m.operation == SF_MEAN) {
      terms.push_back(x);
    } else if (!is_complex(m.type)) {
      terms.push_back(x * (m.has_factors() ? at(all.second, i) : x));
    } else if (!m.has_factors()) {
      const T imaginary = at(all.first, ++i);
      terms.push_back(x * x + imaginary * imaginary);
    } else {
      T imaginary = at(all.first, ++i);
      if (m.operation == SF_DOTC) imaginary = -imaginary;
      const T u = at(all.second, i - 1), v = at(all.second, i);
      terms.push_back(x * u - imaginary * v);
      terms.push_back(x * v + imaginary * u);
    }
  }
  return terms;
}

/// Sums terms. The quotient of a mean is rounded once: an extended number holds that of floats exactly enough.
template <class T>
void sum_terms(const Member& m, const Elements& all, std::uint64_t rows, std::byte* out) {
  using Quotient = std::conditional_t<std::is_same_v<T, float>, long double, double>;
  std::vector<T> terms = rounded_terms<T>(m, all, rows);
  const std::uint64_t width = terms.size() / rows;
  fold(terms, rows, width, lanes_of(m), sum<T>);
  for (std::uint64_t c = 0; c < width; ++c) {
    T result = terms[c];
    if (m.operation == SF_NORM2) result = std::sqrt(result);
    if (m.operation == SF_MEAN) result = static_cast<T>(Quotient{result} / static_cast<Quotient>(rows));
    write_result(out + c * sizeof(T), result);
  }
}

/// Multiplies complex numbers. Every operation is rounded, none is fused, and infinities are not repaired.
template <class T>
void multiply_complex(const Member& m, const Elements& all, std::uint64_t rows, std::byte* out) {
  using Number = std::array<T, 2>;
  const sf_type part = part_of(m.type);
  std::vector<Number> values(rows * m.columns);
  for (std::size_t i = 0; i < values.size(); ++i)
    for (std::size_t k = 0; k < 2; ++k)
      values[i][k] = converted<T>(part, all.first.data() + (2 * i + k) * size_of(part));
  fold(values, rows, m.columns, lanes_of(m), [](const Number& x, const Number& y) {
    return Number{x[0] * y[0] - x[1] * y[1], x[0] * y[1] + x[1] * y[0]};
  });
  for (std::uint64_t c = 0; c < m.columns; ++c)
    for (std::size_t k = 0; k < 2; ++k) write_result(out + (2 * c + k) * sizeof(T), values[c][k]);
}

void reduce_by_user(const Member& m, const Elements& all, std::uint64_t rows, std::byte* out) {
  using Element = std::array<std::byte, 32>;
  const UserOperator& op = user_operator(m.user);
  std::vector<Element> values(rows * m.columns);
  for (std::size_t i = 0; i < values.size(); ++i)
    std::memcpy(values[i].data(), all.first.data() + i * op.bytes, op.bytes);
  fold(values, rows, m.columns, lanes_of(m), [&](const Element& left, const Element& right) {
    Element result;
    op.combine(left.data(), right.data(), result.data());
    return result;
  });
  for (std::uint64_t c = 0; c < m.columns; ++c) std::memcpy(out + c * op.bytes, values[c].data(), op.bytes);
}

/// Finds the first row with the least (greatest) value. A NaN is beyond all numbers.
template <class T>
void locate_as(const Member& m, const Elements& all, std::uint64_t rows, std::byte* out) {
  const bool least = m.operation == SF_MIN_LOCATION;
  for (std::uint64_t c = 0; c < m.columns; ++c) {
    T best{};
    std::uint64_t index = 0;
    for (std::uint64_t i = 0; i < rows; ++i) {
      const T x = read<T>(all.first.data() + (i * m.columns + c) * sizeof(T));
      const bool is_other_zero = x == best && is_negative(x) != is_negative(best);
      const bool is_better = is_other_zero ? is_negative(x) == least : least ? x < best : x > best;
      if (i > 0 && (is_nan(best) || !(is_nan(x) || is_better))) continue;
      best = x;
      index = i;
    }
    std::memset(out + 16 * c, 0, 16);
    write_result(out + 16 * c, best);
    write(out + 16 * c + 8, index);
  }
}

}  // namespace

void reduce_by_tree(const Member& m, const Elements& all, std::uint64_t rows, std::byte* out) {
  if (m.operation == SF_USER) return reduce_by_user(m, all, rows, out);
  if (rounds_once(m.operation))
    return part_of(m.result_type) == SF_F32 ? sum_terms<float>(m, all, rows, out)
                                            : sum_terms<double>(m, all, rows, out);
  const bool multiplies_complex = is_complex(m.type) && m.operation == SF_PRODUCT;
  switch (m.result_type) {
    case SF_F64: return reduce_as<double>(m, all, rows, out);
    case SF_F32: return reduce_as<float>(m, all, rows, out);
    case SF_I32: return reduce_as<std::int32_t>(m, all, rows, out);
    case SF_I64: return reduce_as<std::int64_t>(m, all, rows, out);
    case SF_U32: return reduce_as<std::uint32_t>(m, all, rows, out);
    case SF_U64: return reduce_as<std::uint64_t>(m, all, rows, out);
    case SF_LONG_DOUBLE: return reduce_as<long double>(m, all, rows, out);
    case SF_FLOAT128: return reduce_as<Binary128>(m, all, rows, out);
    case SF_COMPLEX_F32:
      return multiplies_complex ? multiply_complex<float>(m, all, rows, out) : reduce_as<float>(m, all, rows, out);
    case SF_COMPLEX_F64:
      return multiplies_complex ? multiply_complex<double>(m, all, rows, out) : reduce_as<double>(m, all, rows, out);
    default: return;
  }
}

void locate(const Member& m, const Elements& all, std::uint64_t rows, std::byte* out) {
  switch (m.type) {
    case SF_F64: return locate_as<double>(m, all, rows, out);
    case SF_F32: return locate_as<float>(m, all, rows, out);
    case SF_I32: return locate_as<std::int32_t>(m, all, rows, out);
    case SF_I64: return locate_as<std::int64_t>(m, all, rows, out);
    case SF_U32: return locate_as<std::uint32_t>(m, all, rows, out);
    case SF_U64: return locate_as<std::uint64_t>(m, all, rows, out);
    default: return;
  }
}

}  // namespace steadfold::soak
