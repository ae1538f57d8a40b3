#include "arithmetic/converted.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <complex>
#include <cstring>
#include <span>
#include <type_traits>
#include <vector>

#include "arithmetic/wrapped_kind.hpp"

namespace steadfold::arithmetic {
namespace {

struct Bfloat16 {
  std::uint16_t bits;
};
struct Float16 {
  std::uint16_t bits;
};

template <class To, class From>
To widened(From x) noexcept {
  return static_cast<To>(x);
}

template <>
float widened<float>(Bfloat16 x) noexcept {
  return std::bit_cast<float>(static_cast<std::uint32_t>(x.bits) << 16);
}

/// Converts a half-precision number. If its fields are moved to the fields of a float, the number becomes 2^112 times
/// smaller, subnormals included.
template <>
float widened<float>(Float16 x) noexcept {
  const std::uint32_t fields = (x.bits & 0x7FFFu) << 13;
  const auto scaled = std::bit_cast<std::uint32_t>(std::bit_cast<float>(fields) * 0x1p+112F);
  const std::uint32_t infinite = (x.bits & 0x7C00u) == 0x7C00u ? 0x7F800000u : 0;
  return std::bit_cast<float>(scaled | infinite | (x.bits & 0x8000u) << 16);
}

template <>
double widened<double>(Bfloat16 x) noexcept {
  return widened<float>(x);
}
template <>
double widened<double>(Float16 x) noexcept {
  return widened<float>(x);
}

template <class T>
T load(const std::byte* at) noexcept {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}
template <class T>
std::byte* store(T value, std::byte* at) noexcept {
  std::memcpy(at, &value, sizeof value);
  return at + sizeof value;
}

template <class From, class To>
void widen(const std::byte* elements, Count count, std::byte* converted) {
  for (Count i = 0; i < count; ++i) converted = store(widened<To>(load<From>(elements + i * sizeof(From))), converted);
}

/// Converts a row of complex numbers to two rows of reals. (a + bi)(c + di) has the parts a c - b d and a d + b c, so
/// the factors are (a, a), (-b, b) on one side, and (c, d), (d, c) on the other. With a - bi (conjugated) the first
/// factors are (a, a), (b, -b).
template <class T, bool are_conjugated>
void left_factors(const std::byte* elements, Count count, std::byte* converted) {
  const auto part = [&](Count i) { return load<T>(elements + i * sizeof(T)); };
  for (Count i = 0; i < count; ++i) converted = store(part(2 * i), store(part(2 * i), converted));
  for (Count i = 0; i < count; ++i) {
    const T b = are_conjugated ? -part(2 * i + 1) : part(2 * i + 1);
    converted = store(b, store(-b, converted));
  }
}
template <class T>
void right_factors(const std::byte* elements, Count count, std::byte* converted) {
  const auto part = [&](Count i) { return load<T>(elements + i * sizeof(T)); };
  for (Count i = 0; i < count; ++i) converted = store(part(2 * i + 1), store(part(2 * i), converted));
  for (Count i = 0; i < count; ++i) converted = store(part(2 * i), store(part(2 * i + 1), converted));
}
/// Converts a row of complex numbers to a row of the real parts and a row of the imaginary parts.
template <class T>
void parts(const std::byte* elements, Count count, std::byte* converted) {
  for (const Count which : {Count{0}, Count{1}})
    for (Count i = 0; i < count; ++i) converted = store(load<T>(elements + (2 * i + which) * sizeof(T)), converted);
}

struct Widening {
  Type from;
  Type to;
  Convert convert;
};
constexpr Widening widenings[] = {{Type::bf16, Type::f32, widen<Bfloat16, float>},
                                  {Type::bf16, Type::f64, widen<Bfloat16, double>},
                                  {Type::f16, Type::f32, widen<Float16, float>},
                                  {Type::f16, Type::f64, widen<Float16, double>},
                                  {Type::f32, Type::f64, widen<float, double>},
                                  {Type::f32, Type::long_double, widen<float, long double>},
                                  {Type::f64, Type::long_double, widen<double, long double>},
                                  {Type::i32, Type::i64, widen<std::int32_t, std::int64_t>},
                                  {Type::u32, Type::u64, widen<std::uint32_t, std::uint64_t>},
                                  {Type::cf32, Type::cf64, widen<std::complex<float>, std::complex<double>>}};

template <class From, class To>
void absolute(const std::byte* elements, Count count, std::byte* converted) {
  for (Count i = 0; i < count; ++i)
    converted = store(std::abs(widened<To>(load<From>(elements + i * sizeof(From)))), converted);
}
constexpr Widening absolutes[] = {
    {Type::f64, Type::f64, absolute<double, double>},    {Type::f32, Type::f32, absolute<float, float>},
    {Type::f32, Type::f64, absolute<float, double>},     {Type::bf16, Type::f32, absolute<Bfloat16, float>},
    {Type::bf16, Type::f64, absolute<Bfloat16, double>}, {Type::f16, Type::f32, absolute<Float16, float>},
    {Type::f16, Type::f64, absolute<Float16, double>}};

/// The product of two complex numbers rounds each of its six operations. std::complex may compute it otherwise, because
/// it looks for infinite factors.
template <class T>
std::complex<T> multiplied(std::complex<T> x, std::complex<T> y) noexcept {
  return {x.real() * y.real() - x.imag() * y.imag(), x.real() * y.imag() + x.imag() * y.real()};
}
template <class T>
T multiplied(T x, T y) noexcept {
  return x * y;
}

template <class From, class To, bool are_conjugated>
void multiply(const std::byte* first, const std::byte* second, Count count, std::byte* products) {
  for (Count i = 0; i < count; ++i) {
    To x = widened<To>(load<From>(first + i * sizeof(From)));
    if constexpr (are_conjugated) x = {x.real(), -x.imag()};
    products = store(multiplied(x, widened<To>(load<From>(second + i * sizeof(From)))), products);
  }
}

struct Multiplication {
  Type from;
  Type to;
  Multiply products;
  Multiply conjugated;  // products in which the first factors are conjugated
};
template <class From, class To>
constexpr Multiplication of_reals(Type from, Type to) {
  return {from, to, multiply<From, To, false>, multiply<From, To, false>};
}
template <class From, class To>
constexpr Multiplication of_complex_numbers(Type from, Type to) {
  return {from, to, multiply<std::complex<From>, std::complex<To>, false>,
          multiply<std::complex<From>, std::complex<To>, true>};
}
constexpr Multiplication multiplications[] = {of_reals<double, double>(Type::f64, Type::f64),
                                              of_reals<float, float>(Type::f32, Type::f32),
                                              of_reals<float, double>(Type::f32, Type::f64),
                                              of_reals<Bfloat16, float>(Type::bf16, Type::f32),
                                              of_reals<Bfloat16, double>(Type::bf16, Type::f64),
                                              of_reals<Float16, float>(Type::f16, Type::f32),
                                              of_reals<Float16, double>(Type::f16, Type::f64),
                                              of_complex_numbers<double, double>(Type::cf64, Type::cf64),
                                              of_complex_numbers<float, float>(Type::cf32, Type::cf32),
                                              of_complex_numbers<float, double>(Type::cf32, Type::cf64)};

template <class From, class To>
void square(const std::byte* elements, Count count, std::byte* squares) {
  for (Count i = 0; i < count; ++i) {
    const To x = widened<To>(load<From>(elements + i * sizeof(From)));
    squares = store(x * x, squares);
  }
}
/// The squares of the absolute values, re^2 + im^2. Each operation is rounded.
template <class From, class To>
void square_complex(const std::byte* elements, Count count, std::byte* squares) {
  for (Count i = 0; i < count; ++i) {
    const auto x = widened<std::complex<To>>(load<std::complex<From>>(elements + i * sizeof(std::complex<From>)));
    squares = store(x.real() * x.real() + x.imag() * x.imag(), squares);
  }
}
constexpr Widening squarings[] = {
    {Type::f64, Type::f64, square<double, double>},        {Type::f32, Type::f32, square<float, float>},
    {Type::f32, Type::f64, square<float, double>},         {Type::bf16, Type::f32, square<Bfloat16, float>},
    {Type::bf16, Type::f64, square<Bfloat16, double>},     {Type::f16, Type::f32, square<Float16, float>},
    {Type::f16, Type::f64, square<Float16, double>},       {Type::cf64, Type::f64, square_complex<double, double>},
    {Type::cf32, Type::f32, square_complex<float, float>}, {Type::cf32, Type::f64, square_complex<float, double>}};

/// Returns the row of a table that converts from one type to the other; null if there is none.
template <class Row>
const Row* find(std::span<const Row> table, Type from, Type to) noexcept {
  const auto found =
      std::find_if(table.begin(), table.end(), [&](const Row& each) { return each.from == from && each.to == to; });
  return found == table.end() ? nullptr : &*found;
}
Convert widening(Type from, Type to, std::span<const Widening> table = widenings) noexcept {
  const Widening* const found = find(table, from, to);
  return found == nullptr ? nullptr : found->convert;
}

/// Converts rows on their way into a builder, a tile (some rows) at a time. A tile stays valid until the builder has
/// received the next tile.
class ConvertedBuilder final : public Builder, private Surveyor {
 public:
  ConvertedBuilder(std::unique_ptr<Builder> inner, const Conversion& how, Type from, Count columns)
      : inner_(std::move(inner)),
        how_(how),
        columns_(columns),
        row_bytes_(columns * size_of(from)),
        out_bytes_(columns * how.parts * size_of(how.type)),
        tile_(std::max<Count>(tile_bytes / std::max<Bytes>(how.rows * out_bytes_, 1), 1)) {}

  void clear() override { inner_->clear(); }

  void push(Index begin, const Block& block) override {
    visit_tiles(block, [&](Count done, const Block& tile) { inner_->push(begin + done * how_.rows, tile); });
  }

  Bytes write(std::span<std::byte> out) override { return inner_->write(out); }

  bool finishes_alone() const noexcept override { return inner_->finishes_alone(); }
  Status finish_alone(Count element_count, std::byte* values, std::byte* spare) override {
    return inner_->finish_alone(element_count == unknown_count ? unknown_count : element_count * how_.rows, values,
                                spare);
  }

  Surveyor* surveyor() noexcept override { return inner_->surveyor() != nullptr ? this : nullptr; }

 private:
  void survey(Index begin, const Block& block) override {
    visit_tiles(block,
                [&](Count done, const Block& tile) { inner_->surveyor()->survey(begin + done * how_.rows, tile); });
  }
  void write_survey(std::span<std::byte> out) override { inner_->surveyor()->write_survey(out); }
  void expect(std::span<const std::byte> surveyed) override { inner_->surveyor()->expect(surveyed); }

  struct ConvertedRows {
    std::vector<std::byte> first;
    std::vector<std::byte> second;
  };
  static constexpr Bytes tile_bytes = 8192;

  /// Calls `visit(rows before, converted rows)`.
  template <class Visit>
  void visit_tiles(const Block& block, Visit visit) {
    for (Count done = 0; done < block.rows; done += tile_) {
      const Count rows = std::min(tile_, block.rows - done);
      ConvertedRows& tile = tiles_[turn_];
      turn_ = 1 - turn_;
      const Bytes offset = done * block.row_stride;
      const bool are_products = how_.multiply != nullptr;
      visit(done,
            Block{.first = are_products ? multiply(block, offset, rows, tile.first)
                                        : convert(how_.first, block.first, offset, rows, block.row_stride, tile.first),
                  .second = convert(how_.second, block.second, offset, rows, block.row_stride, tile.second),
                  .mask = block.mask == nullptr ? nullptr : block.mask + done,
                  .rows = rows * how_.rows,
                  .row_stride = out_bytes_});
    }
  }

  const std::byte* convert(Convert function, const std::byte* from, Bytes offset, Count rows, Bytes stride,
                           std::vector<std::byte>& to) const {
    // Callers may pass operands that the operation does not use.
    if (from == nullptr || function == nullptr) return nullptr;
    to.resize(tile_ * how_.rows * out_bytes_);
    from += offset;
    if (stride == row_bytes_ && how_.rows == 1) {
      function(from, rows * columns_, to.data());
    } else {
      for (Count i = 0; i < rows; ++i) function(from + i * stride, columns_, to.data() + i * how_.rows * out_bytes_);
    }
    return to.data();
  }

  const std::byte* multiply(const Block& block, Bytes offset, Count rows, std::vector<std::byte>& to) const {
    to.resize(tile_ * out_bytes_);
    const bool are_contiguous = block.row_stride == row_bytes_;
    const Count pieces = are_contiguous ? 1 : rows;
    for (Count i = 0; i < pieces; ++i) {
      const Bytes at = offset + i * block.row_stride;
      how_.multiply(block.first + at, block.second + at, are_contiguous ? rows * columns_ : columns_,
                    to.data() + i * out_bytes_);
    }
    return to.data();
  }

  std::unique_ptr<Builder> inner_;
  Conversion how_;
  Count columns_;
  Bytes row_bytes_;
  Bytes out_bytes_;  // number of bytes of one converted row
  Count tile_;       // number of rows of the block that are converted at a time
  std::array<ConvertedRows, 2> tiles_;
  std::size_t turn_ = 0;
};

class ConvertedKind final : public WrappedKind {
 public:
  ConvertedKind(std::unique_ptr<PartialKind> kind, const Conversion& how, Type from, Count columns)
      : WrappedKind(std::move(kind)), how_(how), from_(from), columns_(columns) {}

  std::unique_ptr<Builder> builder() const override {
    return std::make_unique<ConvertedBuilder>(kind().builder(), how_, from_, columns_);
  }

 private:
  Status finish_piece(const Partial& partial, Count element_count, std::byte* values, std::byte* spare,
                      Pieces& pieces) const override {
    return kind().finish_piece(partial, inner_count(element_count), values, spare, pieces);
  }

  /// Returns the number of rows that the kind for converted rows counts.
  Count inner_count(Count element_count) const noexcept {
    return element_count == unknown_count ? unknown_count : element_count * how_.rows;
  }

  Conversion how_;
  Type from_;
  Count columns_;
};

/// The conversion of complex numbers. Sums of complex numbers are sums of their parts; products are not.
template <class T>
Conversion of_complex(Operation operation, Type part, Type result) {
  if (is_dot(operation))
    return {.type = part,
            .result = part_of(result),
            .parts = 2,
            .rows = 2,
            .first = properties_of(operation).terms == Terms::conjugated_products ? left_factors<T, true>
                                                                                  : left_factors<T, false>,
            .second = right_factors<T>};
  if (squares(operation)) return {.type = part, .result = result, .rows = 2, .first = parts<T>};
  return {.type = part, .result = part_of(result), .parts = 2};
}

/// The conversion to terms that are products or squares, which are rounded to the type of the result.
std::optional<Conversion> to_rounded_terms(Operation operation, Type type, Type result) noexcept {
  if (squares(operation)) {
    const Convert convert = widening(type, result, squarings);
    if (convert == nullptr) return std::nullopt;
    return Conversion{.type = result, .result = result, .first = convert};
  }
  const auto* const found = find(std::span<const Multiplication>(multiplications), type, result);
  if (found == nullptr) return std::nullopt;
  const bool are_complex = is_complex(result);
  const Type part = are_complex ? part_of(result) : result;
  return Conversion{
      .type = part,
      .result = part,
      .parts = are_complex ? Count{2} : 1,
      .multiply = properties_of(operation).terms == Terms::products ? found->products : found->conjugated};
}

}  // namespace

std::optional<Conversion> conversion(Operation operation, Type type, Type result, bool rounds_once) noexcept {
  if (takes_absolute_values(operation)) {
    const bool is_narrow = type == Type::bf16 || type == Type::f16;
    const Type to = !rounds_once ? result : is_narrow ? Type::f32 : type;
    const Convert convert = widening(type, to, absolutes);
    if (convert == nullptr) return std::nullopt;
    return Conversion{.type = to, .result = result, .first = convert};
  }
  if (rounds_once && (type == Type::bf16 || type == Type::f16)) {
    const Convert convert = widening(type, Type::f32);
    return Conversion{.type = Type::f32, .result = result, .first = convert, .second = convert};
  }
  if (has_several_sums(operation)) return std::nullopt;
  const bool are_complex = is_complex(type) && is_complex(result);
  if (rounds_once && (are_complex || (is_complex(type) && squares(operation))))
    return type == Type::cf32 ? of_complex<float>(operation, Type::f32, result)
                              : of_complex<double>(operation, Type::f64, result);
  if (rounds_once) return std::nullopt;
  if (squares(operation) || is_dot(operation)) return to_rounded_terms(operation, type, result);
  const Convert convert = type == result ? nullptr : widening(type, result);
  const bool is_sum = operation == Operation::sum || operation == Operation::masked_sum || operation == Operation::mean;
  if (are_complex && is_sum && (convert != nullptr || type == result))
    return Conversion{.type = part_of(result), .result = part_of(result), .parts = 2, .first = convert};
  if (convert == nullptr || is_location(operation)) return std::nullopt;
  return Conversion{.type = result, .result = result, .first = convert, .second = convert};
}

std::unique_ptr<PartialKind> make_converted(std::unique_ptr<PartialKind> kind, const Conversion& conversion, Type from,
                                            Count columns) {
  if (conversion.first == nullptr && conversion.multiply == nullptr) return kind;
  return std::make_unique<ConvertedKind>(std::move(kind), conversion, from, columns);
}

}  // namespace steadfold::arithmetic
