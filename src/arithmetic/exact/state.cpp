#include "arithmetic/exact/state.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <span>
#include <vector>

#include "arithmetic/exact/ending.hpp"
#include "kernels/zeros.hpp"

namespace steadfold::arithmetic {
namespace {

// Number of rows of a column that are copied at a time; they stay in the first-level cache.
constexpr Count tile_rows = 256;
constexpr Count block_rows = 2048;  // number of rows whose zeros are counted at a time; they stay in the cache

template <class Element>
typename Format<Element>::Bits bits_at(const std::byte* elements, Count i) noexcept {
  typename Format<Element>::Bits bits;
  std::memcpy(&bits, elements + i * sizeof bits, sizeof bits);
  return bits;
}

/// Returns the flags of the negated terms.
Flags negated(Flags special) noexcept {
  unsigned flags = special & has_nan;
  if ((special & has_plus_infinity) != 0) flags |= has_minus_infinity;
  if ((special & has_minus_infinity) != 0) flags |= has_plus_infinity;
  return static_cast<Flags>(flags);
}

std::int64_t wrapping_add(std::int64_t a, std::int64_t b, Way way) noexcept {
  const auto by = static_cast<std::uint64_t>(b);
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + (way == Way::added ? by : 0 - by));
}

template <class Element, int factors>
class StateOf final : public ExactState {
  using F = Format<Element>;
  using Bits = typename F::Bits;
  using ColumnAccumulator = Accumulator<Element, factors>;
  struct Column {
    ColumnAccumulator terms;
    std::int64_t minus_zeros = 0;
  };
  struct FactorTile {
    std::array<Element, tile_rows> first;
    std::array<Element, tile_rows> second;
  };

 public:
  explicit StateOf(const StateShape& shape) : ExactState(shape), columns_(shape.columns) {}
  std::unique_ptr<ExactState> copy() const override { return std::make_unique<StateOf>(*this); }

  void clear(Count column) noexcept override {
    columns_[column].terms.clear();
    columns_[column].minus_zeros = 0;
  }

  void read(Count column, ColumnSum& sum) const noexcept override {
    const Column& of = columns_[column];
    sum.special = of.terms.special();
    sum.minus_zeros = of.minus_zeros;
    of.terms.digit_range(sum.range);
  }

  void unite(Count column, const ColumnSum& sum, Way way) noexcept override {
    Column& to = columns_[column];
    to.terms.add_digit_range(sum.range, way == Way::added ? sum.special : negated(sum.special), way == Way::taken_away);
    to.minus_zeros = wrapping_add(to.minus_zeros, sum.minus_zeros, way);
  }

  void add_terms(Count column, const std::byte* first, const std::byte* second, Count rows, Way way) noexcept override {
    Column& to = columns_[column];
    const bool as_it_is = way == Way::added && (factors == 1 || second != nullptr);
    if (!as_it_is) return add_tiles({&to, 1}, first, second, rows, way);
    for (Count done = 0; done < rows; done += block_rows) {
      const Bytes at = done * sizeof(Element);
      add_column(to, first + at, factors == 1 ? nullptr : second + at, std::min(block_rows, rows - done), way);
    }
  }

 private:
  bool sums_have_room() const noexcept override {
    return std::ranges::all_of(columns_, [](const Column& column) {
      if (column.terms.far_from_top()) return true;
      DigitRange range;
      column.terms.digit_range(range);
      const auto top = static_cast<std::int32_t>(range.digit(ColumnAccumulator::digit_count - 1));
      constexpr std::int32_t most = std::int32_t{1} << 30;
      return top >= -most && top < most;
    });
  }

  void add_rows(const std::byte* first, const std::byte* second, Count rows, Way way) noexcept override {
    if (columns_.size() == 1) return add_terms(0, first, second, rows, way);
    add_tiles(columns_, first, second, rows, way);
  }

  /// Copies the rows of some columns, so that the rows of each column are contiguous and have the right sign.
  void add_tiles(std::span<Column> columns, const std::byte* first, const std::byte* second, Count rows,
                 Way way) noexcept {
    const Bytes stride = columns.size() * sizeof(Element);
    const Bits flip = way == Way::added ? 0 : F::sign_bit;
    FactorTile tile;
    const auto* const x = reinterpret_cast<const std::byte*>(tile.first.data());
    const auto* const y = reinterpret_cast<const std::byte*>(tile.second.data());
    for (Count done = 0; done < rows; done += tile_rows) {
      const Count some = std::min(tile_rows, rows - done);
      for (Count column = 0; column < columns.size(); ++column) {
        const Bytes at = done * stride + column * sizeof(Element);
        gather(first + at, some, stride, flip, tile.first);
        if (factors == 2 && second != nullptr) gather(second + at, some, stride, 0, tile.second);
        if (factors == 2 && second == nullptr) std::fill_n(tile.second.begin(), some, Element{1});
        add_column(columns[column], x, y, some, way);
      }
    }
  }

  static void gather(const std::byte* from, Count rows, Bytes stride, Bits flip,
                     std::array<Element, tile_rows>& to) noexcept {
    for (Count i = 0; i < rows; ++i, from += stride) to[i] = std::bit_cast<Element>(bits_at<Element>(from, 0) ^ flip);
  }

  /// Adds contiguous terms. Terms that are removed have been negated before: a term that was -0.0 is then +0.0.
  void add_column(Column& column, const std::byte* first, const std::byte* second, Count rows, Way way) noexcept {
    column.terms.add_rows(first, second, rows, sizeof(Element));
    const Count zeros = count_zeros_(first, second, rows, way == Way::added);
    column.minus_zeros = wrapping_add(column.minus_zeros, static_cast<std::int64_t>(zeros), way);
  }

  std::vector<Column> columns_;
  kernels::CountZeros count_zeros_ = kernels::count_zeros<Element, factors>(kernels::chosen());
};

/// Calls `body` with a null pointer. Its type, Accumulator<Element, factors>*, says the element type and the number of
/// factors.
template <class Body>
auto with_terms(const StateShape& shape, Body body) {
  if (shape.type == Type::f32)
    return shape.factors == 1 ? body(static_cast<Accumulator<float, 1>*>(nullptr))
                              : body(static_cast<Accumulator<float, 2>*>(nullptr));
  return shape.factors == 1 ? body(static_cast<Accumulator<double, 1>*>(nullptr))
                            : body(static_cast<Accumulator<double, 2>*>(nullptr));
}

/// Compares two numbers as digits. Returns -1, 0 or 1 for less, equal or greater.
int compare_digit_ranges(const DigitRange& a, const DigitRange& b) noexcept {
  if (a.negative != b.negative) return a.negative ? -1 : 1;
  const int lowest = std::min(a.lowest, b.lowest);
  for (int position = std::max(a.end(), b.end()) - 1; position >= lowest; --position) {
    if (a.digit(position) != b.digit(position)) return a.digit(position) < b.digit(position) ? -1 : 1;
  }
  return 0;
}

bool is_nan(Flags special) noexcept {
  const unsigned both = has_plus_infinity | has_minus_infinity;
  return (special & has_nan) != 0 || (special & both) == both;
}

/// Returns the sign of an infinity, -1 or 1; 0 for a number.
int infinite_sign(Flags special) noexcept {
  return ((special & has_plus_infinity) != 0 ? 1 : 0) - ((special & has_minus_infinity) != 0 ? 1 : 0);
}

}  // namespace

int digit_count(const StateShape& shape) noexcept {
  return with_terms(shape, []<class ColumnAccumulator>(ColumnAccumulator*) { return ColumnAccumulator::digit_count; });
}

int lowest_exponent(const StateShape& shape) noexcept {
  return with_terms(shape,
                    []<class ColumnAccumulator>(ColumnAccumulator*) { return ColumnAccumulator::lowest_exponent; });
}

Bytes element_bytes(const StateShape& shape) noexcept {
  return shape.type == Type::f32 ? sizeof(float) : sizeof(double);
}

std::unique_ptr<ExactState> ExactState::make(const StateShape& shape) {
  return with_terms(shape, [&]<class Element, int factors>(Accumulator<Element, factors>*) {
    return std::unique_ptr<ExactState>(std::make_unique<StateOf<Element, factors>>(shape));
  });
}

void ExactState::clear() noexcept {
  for (Count column = 0; column < shape_.columns; ++column) clear(column);
  rows_ = 0;
}

void ExactState::merge(const ExactState& other, Way way) noexcept {
  const std::int64_t rows = wrapping_add(rows_, other.rows_, way);
  ColumnSum sum;
  for (Count column = 0; column < shape_.columns; ++column) {
    other.read(column, sum);
    unite(column, sum, way);
  }
  rows_ = rows;
}

void ExactState::negate() noexcept {
  ColumnSum sum;
  for (Count column = 0; column < shape_.columns; ++column) {
    read(column, sum);
    clear(column);
    unite(column, sum, Way::taken_away);
  }
  rows_ = -rows_;
}

void ExactState::assign(const ExactState& other) noexcept {
  if (this == &other) return;
  clear();
  merge(other, Way::added);
}

Comparison ExactState::compare(const ExactState& other, Count column) const noexcept {
  ColumnSum a;
  ColumnSum b;
  read(column, a);
  other.read(column, b);
  if (is_nan(a.special) || is_nan(b.special)) return Comparison::unordered;
  const int infinite = infinite_sign(a.special) - infinite_sign(b.special);
  if (infinite != 0) return infinite < 0 ? Comparison::less : Comparison::greater;
  if (infinite_sign(a.special) != 0) return Comparison::equal;
  return static_cast<Comparison>(compare_digit_ranges(a.range, b.range));
}

void ExactState::round(Operation operation, Type result, std::byte* values) const noexcept {
  const Ending ending{operation, result};
  const auto rows = static_cast<Count>(std::max<std::int64_t>(rows_, 0));
  ColumnSum column;
  for (Count i = 0; i < shape_.columns; ++i, values += ending.value_size()) {
    read(i, column);
    const Leading sum = leading(column.range, lowest_exponent(shape_));
    unsigned flags = column.special;
    if (column.minus_zeros != rows_) flags |= not_minus_zero;
    const bool is_below_zero = (sum.bits != 0 && sum.negative) || (flags & has_minus_infinity) != 0;
    if (operation == Operation::norm2 && is_below_zero) flags |= has_nan;
    ending.write(static_cast<Flags>(flags), rows, sum, values);
  }
}

}  // namespace steadfold::arithmetic
