#include "arithmetic/exact/dealt_sums.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <numeric>

#include "arithmetic/rows/dealt_builder.hpp"

namespace steadfold::arithmetic {
namespace {

constexpr int exponent_at = Format<double>::precision - 1;
constexpr unsigned most_shift = 126 - Format<double>::precision;  // a shifted term has at most 126 bits
constexpr int usual_shift = 30;  // of the first term: later terms may be smaller or larger
constexpr int high_shift = 70;   // if terms are set aside: later terms are mostly smaller
constexpr int highest_unit = 2046 - static_cast<int>(most_shift);      // infinities and NaNs do not fit
constexpr int exponent_of_unit = Format<double>::lowest_exponent - 1;  // the exponent of unit 0

int biased_exponent(std::uint64_t bits) noexcept {
  return static_cast<int>(bits >> exponent_at & Format<double>::exponent_mask);
}

/// The integer of a finite term, in units that belong to the term's exponent.
std::int64_t integer_of(std::uint64_t bits) noexcept {
  using F = Format<double>;
  const std::uint64_t implicit = biased_exponent(bits) == 0 ? 0 : F::implicit_bit;
  const auto magnitude = static_cast<std::int64_t>((bits & (F::implicit_bit - 1)) | implicit);
  return (bits & F::sign_bit) != 0 ? -magnitude : magnitude;
}

/// Returns the number of trailing zero bits of a value that is not 0.
int zeros_below(Int128 value) noexcept {
  const auto low = static_cast<std::uint64_t>(value);
  return low != 0 ? std::countr_zero(low) : 64 + std::countr_zero(static_cast<std::uint64_t>(value >> 64));
}

/// Cuts an integer into words: calls `take(word, its lowest bit, its number of bits)`.
template <class Take>
void for_each_word(Int128 value, const Take& take) {
  constexpr int most_bits = 62;
  const bool is_negative = value < 0;
  Uint128 rest = is_negative ? -static_cast<Uint128>(value) : static_cast<Uint128>(value);
  for (int bit = 0; rest != 0; rest >>= most_bits, bit += most_bits) {
    const int zeros = zeros_below(static_cast<Int128>(rest));
    rest >>= zeros;
    bit += zeros;
    const auto word = static_cast<std::int64_t>(rest & ((std::uint64_t{1} << most_bits) - 1));
    take(is_negative ? -word : word, bit, static_cast<int>(std::bit_width(static_cast<std::uint64_t>(word))));
  }
}

bool fits_shifted(Int128 value, int by) noexcept { return by < 127 && value << by >> by == value; }

}  // namespace

/// Adds a normal term. The column must have a unit. Returns false if the term does not fit the unit.
template <class Element>
inline bool DealtSums<Element>::SmallSum::add(std::uint64_t bits) noexcept {
  using F = Format<double>;
  const unsigned shift = static_cast<unsigned>(biased_exponent(bits)) - unit;
  if (shift > most_shift) return false;
  const auto magnitude = Int128{(bits & (F::implicit_bit - 1)) | F::implicit_bit} << shift;
  const auto sign = static_cast<Int128>(static_cast<std::int64_t>(bits) >> 63);
  Int128 sum;
  if (__builtin_add_overflow(value(), (magnitude ^ sign) - sign, &sum)) return false;
  put(sum);
  has_terms = true;
  return true;
}

/// Changes a column to a unit with which a term of this exponent may fit. Returns false if there is none.
template <class Element>
bool DealtSums<Element>::SmallSum::change_unit(int exponent) noexcept {
  const Int128 all = value();
  if (all == 0) {
    unit = static_cast<std::uint16_t>(std::clamp(exponent - (aside == 0 ? usual_shift : high_shift), 1, highest_unit));
    return true;
  }
  if (exponent < unit) {
    if (!fits_shifted(all, unit - exponent)) return false;
    put(all << (unit - exponent));
    unit = static_cast<std::uint16_t>(exponent);
    return true;
  }
  const int by = exponent - static_cast<int>(most_shift) - unit;
  if (by <= 0) return true;
  if (by > zeros_below(all)) return false;
  put(all >> by);
  unit = static_cast<std::uint16_t>(unit + by);
  return true;
}

template <class Element>
void DealtSums<Element>::clear() noexcept {
  std::ranges::fill(sums_, SmallSum{.unit = usual_unit_});
  aside_.clear();
  wides_in_use_ = 0;
  wide_of_column_.clear();
}

template <class Element>
void DealtSums<Element>::add(std::span<const std::uint32_t> columns, const std::byte* elements) {
  if (usual_unit_ == no_unit) begin_with_units(std::span(elements, columns.size() * sizeof(Element)));
  for_each_dealt<Element>(columns, elements, sums_.data(), [this](SmallSum& sum, Element element) {
    const auto bits = std::bit_cast<std::uint64_t>(static_cast<double>(element));
    if (!sum.add(bits)) [[unlikely]]
      add_elsewhere(sum, bits);
  });
}

/// Gives all sums the unit that the first term needs. Later rounds also begin with this unit.
template <class Element>
void DealtSums<Element>::begin_with_units(std::span<const std::byte> elements) noexcept {
  for (; !elements.empty() && usual_unit_ == no_unit; elements = elements.subspan(sizeof(Element))) {
    Element element;
    std::memcpy(&element, elements.data(), sizeof element);
    const int exponent = biased_exponent(std::bit_cast<std::uint64_t>(static_cast<double>(element)));
    SmallSum first;
    if (exponent != 0 && std::isfinite(element) && first.change_unit(exponent)) usual_unit_ = first.unit;
  }
  for (SmallSum& sum : sums_)
    if (sum.unit == no_unit) sum.unit = usual_unit_;
}

template <class Element>
inline void DealtSums<Element>::add_elsewhere(SmallSum& sum, std::uint64_t bits) {
  const int exponent = biased_exponent(bits);
  if (sum.aside == 0 || exponent == 0 || exponent >= sum.unit) return add_far(sum, std::bit_cast<double>(bits));
  set_aside(sum, integer_of(bits), exponent, exponent + Format<double>::precision);
}

/// Adds a term that may need another unit, or is a zero, an infinity or a NaN.
template <class Element>
void DealtSums<Element>::add_far(SmallSum& sum, double term) {
  if (!note_dealt(term, sum.flags)) return;
  const auto bits = std::bit_cast<std::uint64_t>(term);
  const std::int64_t integer = integer_of(bits);
  const int exponent = std::max(biased_exponent(bits), 1);
  const bool is_small = exponent < sum.unit;
  const bool has_place = !(is_small && sum.aside > 0) && sum.change_unit(exponent);
  Int128 all = 0;
  if (has_place && !__builtin_add_overflow(sum.value(), Int128{integer} << (exponent - sum.unit), &all))
    return sum.put(all);
  if (!is_small) make_room_above(sum, exponent);
  if (is_small || exponent < sum.unit)
    return set_aside(sum, integer, exponent, exponent + Format<double>::precision);
  sum.put(sum.value() + (Int128{integer} << (exponent - sum.unit)));
}

/// Sets value 2^(unit - 1075) aside, which is below 2^(end - 1075).
template <class Element>
inline void DealtSums<Element>::set_aside(SmallSum& sum, std::int64_t value, int unit, int end) {
  const auto column = static_cast<std::size_t>(&sum - sums_.data());
  sum.aside_end = std::max(sum.aside_end, static_cast<std::uint16_t>(end));
  if (sum.aside != most_counted) ++sum.aside;
  if (sums_.size() <= few_columns) return wide_for(column).add_scaled(value, unit + exponent_of_unit);
  if (aside_.size() == most_aside()) add_to_accumulators();
  aside_.add({value, unit, static_cast<std::uint32_t>(column)});
}

/// Sets low bits of the integer aside, so that a term of this exponent or a carry has room: then the integer and the
/// term are at most 2^126 in magnitude.
template <class Element>
void DealtSums<Element>::make_room_above(SmallSum& sum, int exponent) {
  constexpr int for_carries = 8;
  const int unit = std::min(std::max(exponent - high_shift, sum.unit + for_carries), highest_unit);
  const int by = unit - sum.unit;
  const bool keeps_some = by > 0 && by < 127;
  const Int128 all = sum.value();
  const Int128 kept = keeps_some ? all >> by : 0;
  for_each_word(keeps_some ? all - (kept << by) : all, [&](std::int64_t word, int bit, int bits) {
    set_aside(sum, word, sum.unit + bit, sum.unit + bit + bits);
  });
  sum.put(kept);
  sum.unit = static_cast<std::uint16_t>(unit);
}

template <class Element>
DealtSums<Element>::Sorted::Sorted(const AsideTerms& aside, std::size_t columns) : terms(aside.size()) {
  if (terms.empty()) return;
  ends.resize(columns + 1);
  aside.for_each([this](const Aside& term) { ++ends[term.column + 1]; });
  std::partial_sum(ends.begin(), ends.end(), ends.begin());
  aside.for_each([this](const Aside& term) { terms[ends[term.column]++] = term; });
}

/// The accumulator of the column, or null.
template <class Element>
auto DealtSums<Element>::wide_of(std::size_t column) noexcept -> Wide* {
  if (wide_of_column_.empty() || wide_of_column_[column] == none) return nullptr;
  return &wides_[wide_of_column_[column]];
}

/// The accumulator of the column. Makes one if there is none.
template <class Element>
auto DealtSums<Element>::wide_for(std::size_t column) -> Wide& {
  if (wide_of_column_.empty()) wide_of_column_.resize(sums_.size(), none);
  if (wide_of_column_[column] == none) {
    if (wides_in_use_ == wides_.size()) wides_.emplace_back();
    wides_[wides_in_use_].clear();
    wide_of_column_[column] = wides_in_use_++;
  }
  return wides_[wide_of_column_[column]];
}

template <class Element>
void DealtSums<Element>::add_to_accumulators() {
  const Sorted sorted(aside_, sums_.size());
  for (std::size_t column = 0; column < sums_.size(); ++column) {
    const std::span<const Aside> terms = sorted.of(column);
    if (terms.empty()) continue;
    Wide& wide = wide_for(column);
    for (const Aside& term : terms) wide.add_scaled(term.value, term.unit + exponent_of_unit);
  }
  aside_.clear();
}

/// The sum of all terms of a column, in digits from 2^(lowest exponent of the elements) on. Floats are multiples of it.
template <class Element>
void DealtSums<Element>::window(std::size_t column, const Sorted& sorted, DigitWindow& window) noexcept {
  const SmallSum& sum = sums_[column];
  if (sum.aside > 0) return window_with_aside(column, sorted.of(column), window);
  Int128 all = sum.value();
  if (all == 0) return make_window({}, 0, window);
  int position = sum.unit + exponent_of_unit - Wide::lowest_exponent;
  if (position < 0) all >>= -position;
  position = std::max(position, 0);
  const int bit = position % 32;
  const auto low = static_cast<Uint128>(all) << bit;
  std::array<std::int64_t, 5> digits;
  for (int i = 0; i < 4; ++i) digits[static_cast<std::size_t>(i)] = static_cast<std::uint32_t>(low >> (32 * i));
  digits[4] = static_cast<std::int64_t>(all >> 96 >> (32 - bit));
  make_window(digits, position / 32, window);
}

template <class Element>
void DealtSums<Element>::window_with_aside(std::size_t column, std::span<const Aside> aside,
                                           DigitWindow& window) noexcept {
  const SmallSum& sum = sums_[column];
  Wide* const own = wide_of(column);
  Wide& wide = own == nullptr ? few_ : *own;
  for (const Aside& term : aside) wide.add_scaled(term.value, term.unit + exponent_of_unit);
  for_each_word(sum.value(), [&](std::int64_t word, int bit, int /*bits*/) {
    wide.add_scaled(word, sum.unit + bit + exponent_of_unit);
  });
  wide.window(window);
  few_.clear();
}

/// Makes a narrow group of the sums. Returns false if there is no unit in which all columns fit.
template <class Element>
bool DealtSums<Element>::read_narrow(std::span<const SmallSum> sums, NarrowGroup& group) const noexcept {
  constexpr int of_unit = exponent_of_unit - Wide::lowest_exponent;
  int lowest = std::numeric_limits<int>::max();  // exponent of the lowest set bit
  for (const SmallSum& sum : sums) {
    if (sum.aside > 0) return false;
    if (sum.value() != 0) lowest = std::min(lowest, sum.unit + of_unit + zeros_below(sum.value()));
  }
  group.clear();
  for (std::size_t lane = 0; lane < sums.size(); ++lane) {
    const Int128 all = sums[lane].value();
    if (all == 0) continue;
    const int shift = sums[lane].unit + of_unit - lowest / 32 * 32;
    if (shift > 0 && !fits_shifted(all, shift)) return false;
    if (!group.add(lane, shift < 0 ? all >> -shift : all << shift, lowest / 32)) return false;
  }
  return true;
}

template <class Element>
Bytes DealtSums<Element>::write(Count rows, std::span<std::byte> out) {
  const Sorted sorted(aside_, sums_.size());
  exact_record::Writer writer(out, Header{}, rows, Wide::digit_count);
  exact_record::GroupSums group;
  for (Count begin = 0; begin < sums_.size(); begin += exact_record::columns_of_group) {
    const Count columns = std::min(exact_record::columns_of_group, sums_.size() - begin);
    group.flags = {};
    group.minus_zeros = 0;
    for (std::size_t lane = 0; lane < columns; ++lane) {
      group.flags.add(lane, sums_[begin + lane].all_flags());
      if ((sums_[begin + lane].flags & has_minus_zero) != 0) group.minus_zeros |= static_cast<std::uint8_t>(1U << lane);
    }
    group.is_narrow = read_narrow(std::span(sums_).subspan(begin, columns), group.narrow);
    if (!group.is_narrow)
      for (std::size_t lane = 0; lane < columns; ++lane) window(begin + lane, sorted, group.wide[lane]);
    writer.put(columns, group);
  }
  return writer.finish();
}

/// Writes the column's result as if this were its value.
template <class Element>
void DealtSums<Element>::write_value(const SmallSum& sum, Int128 value, std::byte* out) const noexcept {
  const int exponent = sum.unit + exponent_of_unit;
  const bool is_normal = exponent >= lowest_normal_unit && exponent <= highest_normal_unit;
  const bool has_only_terms = (sum.flags & ~not_minus_zero) == 0;
  if (ending_.only_rounds() && has_only_terms && (is_normal || value == 0)) [[likely]] {
    const std::uint64_t bits = rounded_normal(value, exponent);
    std::memcpy(out, &bits, sizeof bits);
  } else {
    ending_.write(sum.all_flags(), (sum.flags & has_minus_zero) != 0 ? 1 : 0, leading(value, exponent), out);
  }
}

/// Writes the column's result if the terms set aside cannot change it: if the least and the greatest sum that they
/// allow are rounded to the same number. Otherwise returns false.
template <class Element>
bool DealtSums<Element>::is_written_without_aside(const SmallSum& sum, std::byte* out) const noexcept {
  constexpr int most_bits = 64;  // of the number of terms
  const int count_bits = sum.aside == most_counted ? most_bits : static_cast<int>(std::bit_width(sum.aside));
  const int above = std::max(sum.aside_end + count_bits - sum.unit, 0);
  Int128 least = 0;
  Int128 greatest = 0;
  const bool has_bounds = above < 126 && !__builtin_sub_overflow(sum.value(), Int128{1} << above, &least) &&
                          !__builtin_add_overflow(sum.value(), Int128{1} << above, &greatest);
  if (!has_bounds) return false;
  std::uint64_t of_greatest = 0;
  write_value(sum, least, out);
  write_value(sum, greatest, reinterpret_cast<std::byte*>(&of_greatest));
  return std::memcmp(out, &of_greatest, ending_.value_size()) == 0;
}

template <class Element>
void DealtSums<Element>::finish(std::byte* values) {
  const Bytes bytes = ending_.value_size();
  std::vector<bool> are_open;  // columns whose terms set aside are needed
  for (std::size_t column = 0; column < sums_.size(); ++column) {
    const SmallSum& sum = sums_[column];
    if (sum.aside == 0) {
      write_value(sum, sum.value(), values + column * bytes);
    } else if (!is_written_without_aside(sum, values + column * bytes)) {
      are_open.resize(sums_.size());
      are_open[column] = true;
    }
  }
  if (are_open.empty()) return;
  AsideTerms of_open;
  aside_.for_each([&](const Aside& term) {
    if (are_open[term.column]) of_open.add(term);
  });
  const Sorted sorted(of_open, sums_.size());
  for (std::size_t column = 0; column < sums_.size(); ++column) {
    if (!are_open[column]) continue;
    const SmallSum& sum = sums_[column];
    DigitWindow whole;
    window_with_aside(column, sorted.of(column), whole);
    ending_.write(sum.all_flags(), (sum.flags & has_minus_zero) != 0 ? 1 : 0, leading(whole, Wide::lowest_exponent),
                  values + column * bytes);
  }
}

template class DealtSums<float>;
template class DealtSums<double>;

}  // namespace steadfold::arithmetic
