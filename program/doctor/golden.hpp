// Records of golden values (tests/golden) and the inputs from which they were computed. tests/golden/data.py defines
// the inputs; make.py defines the format of a line. The file does not use src/. Its enumerators are those of
// steadfold.h.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include "steadfold/operations.hpp"
#include "steadfold/steadfold.h"

namespace steadfold::golden {

__extension__ typedef unsigned __int128 Bits;
using Bytes = std::vector<std::byte>;

// --- types -----------------------------------------------------------------------------------------------------------

struct Format {
  int digits;
  int exponent_bits;
  int integer_bit;
  int bias() const { return (1 << (exponent_bits - 1)) - 1; }
  int mantissa_bits() const { return digits - 1; }
  Bits pack(Bits negative, int exponent, Bits mantissa) const {
    const Bits field = static_cast<Bits>(exponent) << integer_bit | (integer_bit != 0 && exponent > 0 ? 1 : 0);
    return negative << (exponent_bits + integer_bit + mantissa_bits()) | field << mantissa_bits() | mantissa;
  }
};

/// The memory layout of a type's elements: an element has `parts` numbers of `size` bytes, and the value occupies the
/// first `used` bytes of each.
struct Shape {
  std::optional<Format> format;  // format of a floating-point number; empty for integers
  std::size_t used;
  std::size_t size;
  std::size_t parts = 1;
  std::optional<sf_type> type;  // the type in the C interface; empty if this machine or compiler lacks the type
};

constexpr int long_double_digits = std::numeric_limits<long double>::digits;

inline std::optional<sf_type> binary128() {
  if (long_double_digits == 113) return SF_LONG_DOUBLE;
#if defined(__SIZEOF_FLOAT128__)
  return SF_FLOAT128;
#else
  return std::nullopt;
#endif
}

inline Shape shape_of(const std::string& name) {
  constexpr Format f64{53, 11, 0};
  constexpr Format f32{24, 8, 0};
  static const std::map<std::string, Shape> shapes = {
      {"f64", {f64, 8, 8, 1, SF_F64}},
      {"f32", {f32, 4, 4, 1, SF_F32}},
      {"bf16", {Format{8, 8, 0}, 2, 2, 1, SF_BF16}},
      {"f16", {Format{11, 5, 0}, 2, 2, 1, SF_F16}},
      {"i32", {{}, 4, 4, 1, SF_I32}},
      {"i64", {{}, 8, 8, 1, SF_I64}},
      {"u32", {{}, 4, 4, 1, SF_U32}},
      {"u64", {{}, 8, 8, 1, SF_U64}},
      {"cf32", {f32, 4, 4, 2, SF_COMPLEX_F32}},
      {"cf64", {f64, 8, 8, 2, SF_COMPLEX_F64}},
      {"x87",
       {Format{64, 15, 1}, 10, sizeof(long double), 1,
        long_double_digits == 64 ? std::optional(SF_LONG_DOUBLE) : std::nullopt}},
      {"b128", {Format{113, 15, 0}, 16, 16, 1, binary128()}},
      {"mix", {{}, 8, 8, 1, SF_BYTES}},
      {"matrix", {{}, 4, 4, 4, SF_BYTES}},
      {"halves", {f64, 8, 8, 1, SF_BYTES}},
  };
  return shapes.at(name);
}

/// Appends a number in this machine's byte order, padded with zeros.
inline void append(Bytes& to, Bits bits, const Shape& shape) {
  const std::size_t first = to.size();
  to.resize(first + shape.size);
  for (std::size_t i = 0; i < shape.used; ++i) {
    const std::size_t at = std::endian::native == std::endian::little ? i : shape.used - 1 - i;
    to[first + at] = static_cast<std::byte>(bits >> (8 * i) & 0xFF);
  }
}

// --- inputs ----------------------------------------------------------------------------------------------------------

constexpr std::uint64_t seed = 0x5EED;

inline std::uint64_t mix(std::uint64_t x) {
  x += 0x9E3779B97F4A7C15;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
  return x ^ (x >> 31);
}

/// The values that determine the bits of an element.
struct Source {
  const Format& f;
  std::uint64_t row;
  std::uint64_t column;
  std::uint64_t h;
  std::uint64_t g;
  bool second;
  int tie() const { return f.digits == 8 ? 23 : f.mantissa_bits(); }
  Bits sign() const { return h & 1; }
  Bits one() const { return f.pack(0, f.bias(), 0); }
  Bits mantissa() const { return (static_cast<Bits>(h) << 64 | mix(g)) >> (128 - f.mantissa_bits()); }
  int below(std::uint64_t most) const { return static_cast<int>(g % most); }
};

inline Bits small_number(const Source& s) {
  const int b = s.f.bias();
  const std::array<Bits, 7> all = {s.f.pack(1, 0, 0),     0,      s.one(), s.f.pack(1, b, 0), s.f.pack(0, b + 1, 0),
                                   s.f.pack(1, b + 1, 0), s.one()};
  return all[s.g % 7];
}

inline Bits special(const Source& s) {
  const int above = 2 * s.f.bias() + 1;
  const Bits nan = (static_cast<Bits>(1) << (s.f.mantissa_bits() - 1)) + 5;
  const std::array<Bits, 6> all = {
      0, s.f.pack(1, 0, 0), s.f.pack(0, above, 0), s.f.pack(1, above, 0), s.f.pack(1, above, nan), s.one()};
  return all[((s.row % 2 == 0) != s.second ? s.column : s.column / 6) % 6];
}

inline Bits tie(const Source& s) {
  const int b = s.f.bias();
  const int low = b - s.tie() - 1;
  const std::array<Bits, 4> all = {s.f.pack(s.sign(), b, s.h >> 63), s.f.pack(s.sign(), low, 0),
                                   s.f.pack(s.sign(), low, 1), s.f.pack(s.sign(), low - 1, 0)};
  return all[s.g % 4];
}

inline Bits half_of_a_unit(const Source& s) {
  if (s.second) return s.one();
  const int b = s.f.bias();
  if (s.row % 8 == 3 || s.row % 8 == 5) return s.f.pack(s.row % 8 == 5 ? 1 : 0, b, 0);
  const int exponent = b - 75 - 40 * s.below(3) + static_cast<int>((s.g >> 12) % 2);
  return s.f.pack(s.sign(), std::max(1, exponent), static_cast<Bits>(s.h >> 62) << (s.f.mantissa_bits() - 2));
}

inline Bits tie_that_breaks(const Source& s, bool squares) {
  if (s.second && !squares) return s.one();
  const int half = (s.tie() + 2) / 2;
  constexpr int none = -1;
  const std::vector<int> down = squares ? std::vector{0, half, s.tie() % 2 != 0 ? none : half, 76, 58, 39}
                                        : std::vector{0, s.tie() + 1, 156, 116, 76};
  if (s.row >= down.size() || down[s.row] == none) return 0;
  return s.f.pack(0, std::max(1, s.f.bias() - down[s.row]), 0);
}

inline Bits float_bits(const Format& f, const std::string& family, std::uint64_t row, std::uint64_t column,
                       bool second) {
  if (family == "full" && row % 3 == 2) return float_bits(f, family, row - 1, column, second) ^ f.pack(1, 0, 0);
  const std::uint64_t h = mix(seed + (second ? std::uint64_t{1} << 56 : 0) + row + (column << 32));
  const Source s{f, row, column, h, mix(h), second};
  const int b = f.bias();
  const int highest = 2 * b;
  const int width = std::min(b / 2, 80);
  if (family == "minus") return f.pack(1, 0, 0);
  if (family == "zeros") return f.pack(s.sign(), 0, 0);
  if (family == "few") return small_number(s);
  if (family == "specials") return special(s);
  if (family == "ties") return tie(s);
  if (family == "bins") return half_of_a_unit(s);
  if (family == "breaks" || family == "squares") return tie_that_breaks(s, family == "squares");
  if (family == "infinite" && row % 5 == 3) return f.pack(0, highest + 1, 0);
  if (family == "both" && row % 5 == 3) return f.pack(s.sign(), highest + 1, 0);
  if (family == "nan" && row % 7 == 4) return f.pack(s.sign(), highest + 1, s.mantissa() | 1);
  int exponent = b - 2 + s.below(4);
  if (family == "wide") exponent = b - width + s.below(static_cast<std::uint64_t>(2 * width));
  if (family == "full") exponent = s.below(static_cast<std::uint64_t>(highest - highest / 16));
  if (family == "tiny") exponent = s.below(3);
  if (family == "huge") exponent = highest - s.below(2);
  return f.pack(s.sign(), exponent, s.mantissa());
}

inline Bits integer_bits(std::size_t size, const std::string& family, std::uint64_t row, std::uint64_t column) {
  const std::uint64_t h = mix(seed + row + (column << 32));
  if (family == "any") return h >> (64 - 8 * size);
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(mix(h) % 5) - 2);
}

/// Returns the mask byte of a row.
inline std::byte mask_of(std::uint64_t row) {
  const std::uint64_t h = mix(row + seed + (std::uint64_t{1} << 57));
  return static_cast<std::byte>(h % 3 == 0 ? 0 : 1 + (h >> 57));
}

// --- records ---------------------------------------------------------------------------------------------------------

/// A method, with its name in the golden files.
struct Method {
  std::string name;
  sf_method method = SF_TREE;
  std::uint32_t bins = 0;
  std::uint32_t lanes = 0;
};

inline Method method_of(const std::string& name) {
  const std::string word = name.substr(0, name.find_first_of("0123456789"));
  const auto* const found = std::find_if(std::begin(detail::named_methods), std::end(detail::named_methods),
                                         [&](const detail::NamedMethod& each) { return each.name == word; });
  if (found == std::end(detail::named_methods)) throw std::out_of_range("no method is called " + name);
  return {name, found->method, word == name ? 0 : static_cast<std::uint32_t>(name.back() - '0')};
}

struct Record {
  std::string where, operation, type, result, family;
  std::uint64_t rows = 0;
  std::uint64_t columns = 0;
  // Results of the methods, as text in the form that make.py defines.
  std::vector<std::pair<Method, std::string>> values;

  /// Returns the fields that are equal in records of the same data with different sizes.
  auto key() const { return std::tie(operation, type, result, family, columns); }
  bool has_factors() const {
    return std::any_of(std::begin(detail::operation_table), std::end(detail::operation_table), [&](const auto& each) {
      return each.name == operation && each.second == detail::Second::factors;
    });
  }
  bool is_masked() const { return operation == "masked_sum"; }
  bool is_user() const { return operation == "user"; }
  bool is_location() const { return operation.ends_with("location"); }
  bool is_statistics() const { return operation == "statistics"; }
  std::size_t element_bytes() const { return shape_of(type).size * shape_of(type).parts; }
  std::size_t row_bytes() const { return columns * element_bytes(); }
  /// Returns the format of results in memory. Statistics are doubles, whatever format they are rounded to.
  Shape value_shape() const { return shape_of(is_statistics() ? "f64" : result); }
  /// Returns the size of a result in bytes.
  std::size_t value_bytes() const {
    const Shape shape = value_shape();
    if (is_statistics()) return sizeof(sf_statistics);
    return is_location() ? 16 : shape.size * (is_user() || operation_is_complex() ? shape.parts : 1);
  }
  /// Whether this program can compute the record: this machine's long double, or its compiler, has the record's
  /// formats.
  bool runs_here() const {
    if (result == "b128" && type != "b128") return long_double_digits == 113;
    return shape_of(type).type.has_value() && shape_of(result).type.has_value();
  }

  const std::string* value_by(const Method& method) const {
    for (const auto& [other, text] : values)
      if (other.name == method.name) return &text;
    return nullptr;
  }

  /// Appends one row of the input.
  void append_row(Bytes& to, std::uint64_t row, bool second = false) const {
    if (second && is_masked()) return to.push_back(mask_of(row));
    const Shape shape = shape_of(type);
    for (std::uint64_t i = 0; i < columns * shape.parts; ++i)
      append(
          to,
          shape.format ? float_bits(*shape.format, family, row, i, second) : integer_bits(shape.size, family, row, i),
          shape);
  }
  bool has_second() const { return has_factors() || is_masked(); }

 private:
  bool operation_is_complex() const { return operation != "norm2" && operation != "sum_squares"; }
};

inline std::vector<std::string> split(const std::string& text, char by) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, by);) parts.push_back(part);
  return parts;
}

/// Reads a line of a golden file.
inline Record record_of(const std::string& line) {
  Record record;
  std::istringstream words(line);
  std::string size;
  words >> record.operation >> record.type >> record.result >> record.family >> size;
  record.where = record.operation + " " + record.type + " to " + record.result + ", " + record.family + " " + size;
  record.rows = std::stoull(size);
  record.columns = std::stoull(size.substr(size.find('x') + 1));
  for (std::string field; words >> field;) {
    const std::size_t at = field.find('=');
    for (const std::string& name : split(field.substr(0, at), ','))
      record.values.emplace_back(method_of(name), field.substr(at + 1));
  }
  return record;
}

inline Bits bits_of(const std::string& text) {
  Bits bits = 0;
  for (const char c : text) bits = bits << 4 | static_cast<Bits>(c <= '9' ? c - '0' : c - 'A' + 10);
  return bits;
}

/// Returns the results as bytes in memory. Not for `empty`.
inline Bytes bytes_of(const Record& record, const std::string& values) {
  const Shape shape = record.value_shape();
  Bytes bytes;
  for (const std::string& value : split(values, ',')) {
    if (record.type == "matrix") {
      for (std::size_t i = 0; i < 4; ++i) append(bytes, bits_of(value.substr(8 * i, 8)), shape);
      continue;
    }
    if (record.is_statistics()) {
      for (std::size_t i = 0; i < value.size(); i += 16) append(bytes, bits_of(value.substr(i, 16)), shape);
      continue;
    }
    const std::vector<std::string> parts = split(value, '@');
    append(bytes, bits_of(parts[0]), shape);
    if (parts.size() == 1) continue;
    bytes.resize((bytes.size() + 7) / 8 * 8);
    const std::uint64_t index = std::stoull(parts[1]);
    const auto* const first = reinterpret_cast<const std::byte*>(&index);
    bytes.insert(bytes.end(), first, first + sizeof index);
  }
  return bytes;
}

/// Writes results in memory as text, as in the golden files. Not for `empty`.
inline std::string text_of(const Record& record, const Bytes& results) {
  const Shape shape = record.value_shape();
  std::string text;
  const auto add_number = [&](std::size_t at) {
    static constexpr const char* digits = "0123456789ABCDEF";
    for (std::size_t i = shape.used; i-- > 0;) {
      const std::size_t place = std::endian::native == std::endian::little ? i : shape.used - 1 - i;
      const auto byte = static_cast<unsigned>(results[at + place]);
      text += {digits[byte / 16], digits[byte % 16]};
    }
  };
  const std::size_t numbers = record.is_location() ? 1 : record.value_bytes() / shape.size;
  for (std::size_t at = 0; at < results.size(); at += record.value_bytes()) {
    for (std::size_t i = 0; i < numbers; ++i) {
      if (!text.empty() && (i == 0 || shape.parts == 2)) text += ',';
      add_number(at + i * shape.size);
    }
    if (!record.is_location()) continue;
    std::uint64_t index = 0;
    std::memcpy(&index, results.data() + at + 8, sizeof index);
    text += '@' + std::to_string(index);
  }
  return text;
}

/// Sets the bytes between a location's value and index to zero, since they are not part of the result.
inline void clear_gaps(const Record& record, std::byte* results, std::size_t count) {
  const std::size_t used = record.value_shape().used;
  if (!record.is_location()) return;
  for (std::size_t at = 0; at + 16 <= count; at += 16) std::fill(results + at + used, results + at + 8, std::byte{0});
}

// --- calls -----------------------------------------------------------------------------------------------------------

/// Applies op(left, right) to each pair of elements.
template <class T, T (*op)(const T&, const T&)>
int apply(const void* left, const void* right, void* result, std::size_t count, void* /*context*/) {
  for (std::size_t i = 0; i < count; ++i) {
    T a;
    T b;
    std::memcpy(&a, static_cast<const T*>(left) + i, sizeof a);
    std::memcpy(&b, static_cast<const T*>(right) + i, sizeof b);
    const T both = op(a, b);
    std::memcpy(static_cast<T*>(result) + i, &both, sizeof both);
  }
  return 0;
}

using Matrix = std::array<std::uint32_t, 4>;

inline std::uint64_t mix_words(const std::uint64_t& a, const std::uint64_t& b) { return 3 * a + (b ^ b >> 7); }
inline Matrix multiply(const Matrix& x, const Matrix& y) {
  return {x[0] * y[0] + x[1] * y[2], x[0] * y[1] + x[1] * y[3], x[2] * y[0] + x[3] * y[2], x[2] * y[1] + x[3] * y[3]};
}
inline double halve_and_subtract(const double& a, const double& b) { return a - b / 2; }

inline sf_operator operator_of(const std::string& type) {
  if (type == "mix") return apply<std::uint64_t, mix_words>;
  if (type == "matrix") return apply<Matrix, multiply>;
  return apply<double, halve_and_subtract>;
}

/// Returns the operation with this name, or nothing.
inline std::optional<sf_operation> operation_named(const std::string& name) {
  const auto* const properties =
      std::find_if(std::begin(detail::operation_table), std::end(detail::operation_table),
                   [&](const detail::OperationProperties& each) { return each.name == name; });
  if (properties == std::end(detail::operation_table)) return std::nullopt;
  return static_cast<sf_operation>(properties - detail::operation_table);
}

/// Returns the call of a record, without rows, layout and schedule.
inline sf_call call_of(const Record& record, const Method& method) {
  sf_call call{};  // sf_call_init is not used, because not every program that includes this file links it
  call.size = sizeof call;
  call.root = SF_ALL_RANKS;
  call.element_count = SF_UNKNOWN;
  call.operation = operation_named(record.operation).value();
  call.method = method.method;
  call.type = *shape_of(record.type).type;
  call.result_type = *shape_of(record.result).type;
  call.columns = record.columns;
  call.bins = method.bins;
  call.lanes = method.lanes;
  if (!record.is_user()) return call;
  call.element_bytes = record.element_bytes();
  call.user = operator_of(record.type);
  call.operator_name = record.type.c_str();
  return call;
}

}  // namespace steadfold::golden
