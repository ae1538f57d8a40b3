#include "arithmetic/exact/dealt_sums.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <numeric>

namespace steadfold::arithmetic {
namespace {

constexpr int exponent_at = Format<double>::precision - 1;
constexpr int usual_shift = 30;  // of the first term: later terms may be smaller or larger
constexpr int high_shift = 70;   // if terms are set aside: later terms are mostly smaller
constexpr std::uint64_t fraction_mask = Format<double>::implicit_bit - 1;

int biased_exponent(std::uint64_t bits) noexcept {
  return static_cast<int>(bits >> exponent_at & Format<double>::exponent_mask);
}

/// The integer of a finite double's magnitude, in units that belong to its exponent.
std::uint64_t magnitude_of(std::uint64_t bits) noexcept {
  return (bits & fraction_mask) | (biased_exponent(bits) == 0 ? 0 : Format<double>::implicit_bit);
}

/// 0 or -1.
std::int64_t sign_of(std::uint64_t bits) noexcept { return static_cast<std::int64_t>(bits) >> 63; }

std::int64_t with_sign(std::uint64_t magnitude, std::int64_t sign) noexcept {
  return (static_cast<std::int64_t>(magnitude) ^ sign) - sign;
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

/// Adds a word of at most 53 bits. The column must have a unit. Returns false if the word does not fit it.
template <class Element, int factors>
inline bool DealtSums<Element, factors>::SmallSum::add(int exponent, std::uint64_t magnitude,
                                                       std::int64_t sign) noexcept {
  const unsigned shift = static_cast<unsigned>(exponent) - unit;
  if (shift > most_shift) return false;
  const Int128 word = Int128{magnitude} << shift;
  const auto wide_sign = static_cast<Int128>(sign);
  Int128 sum;
  if (__builtin_add_overflow(value(), (word ^ wide_sign) - wide_sign, &sum)) return false;
  put(sum);
  has_terms = true;
  return true;
}

/// Changes to a unit with which a term of this exponent may fit. Returns false if there is none.
template <class Element, int factors>
bool DealtSums<Element, factors>::SmallSum::change_unit(int exponent) noexcept {
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

template <class Element, int factors>
void DealtSums<Element, factors>::clear() noexcept {
  std::ranges::fill(sums_, clear_);
  aside_.clear();
  wides_in_use_ = 0;
  wide_of_column_.clear();
}

template <class Element, int factors>
void DealtSums<Element, factors>::add(std::span<const std::uint32_t> columns, const std::byte* terms) {
  if (clear_[0].unit == no_unit) begin_with_units(std::span(terms, columns.size() * sizeof(Term)));
  for_each_dealt<Term>(columns, terms, sums_.data(), [this](ColumnSum& sum, const Term& term) { add_term(sum, term); });
}

/// Gives all sums the unit that the first term needs. They also begin later rounds with it.
template <class Element, int factors>
void DealtSums<Element, factors>::begin_with_units(std::span<const std::byte> terms) noexcept {
  for (; !terms.empty() && clear_[0].unit == no_unit; terms = terms.subspan(sizeof(Term))) {
    Term term;
    std::memcpy(&term, terms.data(), sizeof term);
    const auto exponent_of = [](double number) {
      return std::isfinite(number) ? biased_exponent(std::bit_cast<std::uint64_t>(number)) : 0;
    };
    if constexpr (are_cut) {
      const int first = exponent_of(term.first);
      const int second = exponent_of(term.second);
      if (first == 0 || second == 0) continue;
      clear_[0].change_unit(first + second + Format<double>::precision);
      clear_[1].change_unit(first + second);
    } else {
      if (exponent_of(term) > 0) clear_[0].change_unit(exponent_of(term));
    }
  }
  for (ColumnSum& sum : sums_)
    for (std::size_t part = 0; part < parts; ++part)
      if (sum[part].unit == no_unit) sum[part].unit = clear_[part].unit;
}

template <class Element, int factors>
inline void DealtSums<Element, factors>::add_term(ColumnSum& sum, double term) {
  const auto bits = std::bit_cast<std::uint64_t>(term);
  const int exponent = biased_exponent(bits);
  if (sum[0].add(exponent, (bits & fraction_mask) | Format<double>::implicit_bit, sign_of(bits))) [[likely]]
    return;
  if (exponent > 0 && exponent < sum[0].unit && sum[0].aside > 0)
    set_aside(sum[0], with_sign(magnitude_of(bits), sign_of(bits)), exponent, exponent + Format<double>::precision);
  else if (note_dealt(term, sum[0].flags))
    add_far(sum[0], std::max(exponent, 1), with_sign(magnitude_of(bits), sign_of(bits)));
}

template <class Element, int factors>
inline void DealtSums<Element, factors>::add_term(ColumnSum& sum, const Factors& term) {
  constexpr std::uint32_t normal_exponents = 2046;
  const auto x = std::bit_cast<std::uint64_t>(term.first);
  const auto y = std::bit_cast<std::uint64_t>(term.second);
  const bool are_normal = static_cast<std::uint32_t>(biased_exponent(x) - 1) < normal_exponents &&
                          static_cast<std::uint32_t>(biased_exponent(y) - 1) < normal_exponents;
  if (!are_normal) [[unlikely]]
    return add_special(sum, term);
  add_product(sum, biased_exponent(x) + biased_exponent(y), Uint128{magnitude_of(x)} * magnitude_of(y), sign_of(x ^ y));
}

/// Adds a product of which a factor is not a normal number.
template <class Element, int factors>
void DealtSums<Element, factors>::add_special(ColumnSum& sum, const Factors& term) {
  const auto [x, y] = term;
  if (x == 0 || y == 0 || !std::isfinite(x) || !std::isfinite(y)) {
    note_dealt(x * y, sum[0].flags);
    return;
  }
  const auto x_bits = std::bit_cast<std::uint64_t>(x);
  const auto y_bits = std::bit_cast<std::uint64_t>(y);
  add_product(sum, std::max(biased_exponent(x_bits), 1) + std::max(biased_exponent(y_bits), 1),
              Uint128{magnitude_of(x_bits)} * magnitude_of(y_bits), sign_of(x_bits ^ y_bits));
}

template <class Element, int factors>
inline void DealtSums<Element, factors>::add_product(ColumnSum& sum, int exponent, Uint128 magnitude,
                                                     std::int64_t sign) {
  constexpr int bits = Format<double>::precision;
  const auto high = static_cast<std::uint64_t>(magnitude >> bits);
  const auto low = static_cast<std::uint64_t>(magnitude) & ((std::uint64_t{1} << bits) - 1);
  sum[0].has_terms = true;
  if (!sum[0].add(exponent + bits, high, sign)) [[unlikely]]
    add_far(sum[0], exponent + bits, with_sign(high, sign));
  if (!sum[parts - 1].add(exponent, low, sign)) [[unlikely]]
    add_far(sum[parts - 1], exponent, with_sign(low, sign));
}

/// Adds a word that may need another unit. It has at most 53 bits.
template <class Element, int factors>
void DealtSums<Element, factors>::add_far(SmallSum& sum, int exponent, std::int64_t word) {
  if (word == 0) return;
  const bool is_small = exponent < sum.unit;
  const bool has_place = !(is_small && sum.aside > 0) && sum.change_unit(exponent);
  Int128 all = 0;
  if (has_place && !__builtin_add_overflow(sum.value(), Int128{word} << (exponent - sum.unit), &all))
    return sum.put(all);
  if (!is_small) make_room_above(sum, exponent);
  if (is_small || exponent < sum.unit) return set_aside(sum, word, exponent, exponent + Format<double>::precision);
  sum.put(sum.value() + (Int128{word} << (exponent - sum.unit)));
}

/// Sets value 2^(unit + exponent_of_unit) aside, which is below 2^(end + exponent_of_unit).
template <class Element, int factors>
inline void DealtSums<Element, factors>::set_aside(SmallSum& sum, std::int64_t value, int unit, int end) {
  const std::size_t column = static_cast<std::size_t>(&sum - sums_.front().data()) / parts;
  sum.aside_end = std::max(sum.aside_end, static_cast<std::uint16_t>(end));
  if (sum.aside != most_counted) ++sum.aside;
  if (sums_.size() <= few_columns) return wide_for(column).add_scaled(value, unit + exponent_of_unit);
  if (aside_.size() == most_aside()) add_to_accumulators();
  aside_.add({value, unit, static_cast<std::uint32_t>(column)});
}

/// Sets low bits of the integer aside, so that a term of this exponent or a carry has room: then the integer and the
/// term are at most 2^126 in magnitude.
template <class Element, int factors>
void DealtSums<Element, factors>::make_room_above(SmallSum& sum, int exponent) {
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

template <class Element, int factors>
DealtSums<Element, factors>::Sorted::Sorted(const AsideTerms& aside, std::size_t columns) : terms(aside.size()) {
  if (terms.empty()) return;
  ends.resize(columns + 1);
  aside.for_each([this](const Aside& term) { ++ends[term.column + 1]; });
  std::partial_sum(ends.begin(), ends.end(), ends.begin());
  aside.for_each([this](const Aside& term) { terms[ends[term.column]++] = term; });
}

/// The accumulator of the column, or null.
template <class Element, int factors>
auto DealtSums<Element, factors>::wide_of(std::size_t column) noexcept -> Wide* {
  if (wide_of_column_.empty() || wide_of_column_[column] == none) return nullptr;
  return &wides_[wide_of_column_[column]];
}

/// The accumulator of the column. Makes one if there is none.
template <class Element, int factors>
auto DealtSums<Element, factors>::wide_for(std::size_t column) -> Wide& {
  if (wide_of_column_.empty()) wide_of_column_.resize(sums_.size(), none);
  if (wide_of_column_[column] == none) {
    if (wides_in_use_ == wides_.size()) wides_.emplace_back();
    wides_[wides_in_use_].clear();
    wide_of_column_[column] = wides_in_use_++;
  }
  return wides_[wide_of_column_[column]];
}

template <class Element, int factors>
void DealtSums<Element, factors>::add_to_accumulators() {
  const Sorted sorted(aside_, sums_.size());
  for (std::size_t column = 0; column < sums_.size(); ++column) {
    const std::span<const Aside> terms = sorted.of(column);
    if (terms.empty()) continue;
    Wide& wide = wide_for(column);
    for (const Aside& term : terms) wide.add_scaled(term.value, term.unit + exponent_of_unit);
  }
  aside_.clear();
}

/// The sum of all terms of a column, in digits from 2^(lowest exponent of the terms) on. All terms are multiples of it.
template <class Element, int factors>
void DealtSums<Element, factors>::digit_range(std::size_t column, const Sorted& sorted, DigitRange& range) noexcept {
  const SmallSum& sum = sums_[column][0];
  if (are_cut || sum.aside > 0) return digit_range_of_all(column, sorted.of(column), range);
  Int128 all = sum.value();
  if (all == 0) return make_digit_range({}, 0, range);
  int position = sum.unit + exponent_of_unit - Wide::lowest_exponent;
  if (position < 0) all >>= -position;
  position = std::max(position, 0);
  const int bit = position % 32;
  const auto low = static_cast<Uint128>(all) << bit;
  std::array<std::int64_t, 5> digits;
  for (int i = 0; i < 4; ++i) digits[static_cast<std::size_t>(i)] = static_cast<std::uint32_t>(low >> (32 * i));
  digits[4] = static_cast<std::int64_t>(all >> 96 >> (32 - bit));
  make_digit_range(digits, position / 32, range);
}

/// The same with an accumulator.
template <class Element, int factors>
void DealtSums<Element, factors>::digit_range_of_all(std::size_t column, std::span<const Aside> aside,
                                                     DigitRange& range) noexcept {
  Wide* const own = wide_of(column);
  Wide& wide = own == nullptr ? few_ : *own;
  for (const Aside& term : aside) wide.add_scaled(term.value, term.unit + exponent_of_unit);
  for (const SmallSum& sum : sums_[column])
    for_each_word(sum.value(), [&](std::int64_t word, int bit, int /*bits*/) {
      wide.add_scaled(word, sum.unit + bit + exponent_of_unit);
    });
  wide.digit_range(range);
  few_.clear();
}

/// Returns false if there is no unit in which all columns fit, or if columns have more than an integer of two words.
template <class Element, int factors>
bool DealtSums<Element, factors>::read_narrow(std::span<const ColumnSum> sums, NarrowGroup& group) const noexcept {
  if (are_cut) return false;
  constexpr int of_unit = exponent_of_unit - Wide::lowest_exponent;
  int lowest = std::numeric_limits<int>::max();  // set bit
  for (const ColumnSum& column : sums) {
    const SmallSum& sum = column[0];
    if (sum.aside > 0) return false;
    if (sum.value() != 0) lowest = std::min(lowest, sum.unit + of_unit + zeros_below(sum.value()));
  }
  group.clear();
  for (std::size_t lane = 0; lane < sums.size(); ++lane) {
    const SmallSum& sum = sums[lane][0];
    const Int128 all = sum.value();
    if (all == 0) continue;
    const int shift = sum.unit + of_unit - lowest / 32 * 32;
    if (shift > 0 && !fits_shifted(all, shift)) return false;
    if (!group.add(lane, shift < 0 ? all >> -shift : all << shift, lowest / 32)) return false;
  }
  return true;
}

template <class Element, int factors>
Bytes DealtSums<Element, factors>::write(Count rows, std::span<std::byte> out) {
  const Sorted sorted(aside_, sums_.size());
  exact_record::Writer writer(out, Header{}, rows, Wide::digit_count);
  exact_record::GroupSums group;
  for (Count begin = 0; begin < sums_.size(); begin += exact_record::columns_of_group) {
    const Count columns = std::min(exact_record::columns_of_group, sums_.size() - begin);
    group.flags = {};
    group.minus_zeros = 0;
    for (std::size_t lane = 0; lane < columns; ++lane) {
      group.flags.add(lane, sums_[begin + lane][0].all_flags());
      if ((sums_[begin + lane][0].flags & has_minus_zero) != 0)
        group.minus_zeros |= static_cast<std::uint8_t>(1U << lane);
    }
    group.is_narrow = read_narrow(std::span(sums_).subspan(begin, columns), group.narrow);
    if (!group.is_narrow)
      for (std::size_t lane = 0; lane < columns; ++lane) digit_range(begin + lane, sorted, group.wide[lane]);
    writer.put(columns, group);
  }
  return writer.finish();
}

/// Writes the column's result as if this were its value.
template <class Element, int factors>
void DealtSums<Element, factors>::write_value(const SmallSum& sum, Int128 value, std::byte* out) const noexcept {
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

/// Writes the column's result if it is certain without the terms set aside: if the least and the greatest sum that they
/// allow are rounded to the same number. Otherwise returns false.
template <class Element, int factors>
bool DealtSums<Element, factors>::is_written_at_once(const ColumnSum& column, std::byte* out) const noexcept {
  const SmallSum& sum = column[0];
  const SmallSum& low = column[parts - 1];
  const bool has_low = are_cut && low.value() != 0;
  if (sum.aside == 0 && low.aside == 0 && !has_low) {
    write_value(sum, sum.value(), out);
    return true;
  }
  const int above = std::max(sum.end_of_aside(), low.end_of_aside()) - sum.unit;
  const int by = sum.unit - low.unit;
  if (above >= 124 || by < 0) return false;
  const Int128 all = sum.value() + (has_low ? low.value() >> std::min(by, 127) : 0);
  const Int128 bound = Int128{4} << std::max(above, 0);  // for both parts, and the bits of the low part below the unit
  Int128 least = 0;
  Int128 greatest = 0;
  if (__builtin_sub_overflow(all, bound, &least) || __builtin_add_overflow(all, bound, &greatest)) return false;
  std::uint64_t of_greatest = 0;
  write_value(sum, least, out);
  write_value(sum, greatest, reinterpret_cast<std::byte*>(&of_greatest));
  return std::memcmp(out, &of_greatest, ending_.value_size()) == 0;
}

template <class Element, int factors>
void DealtSums<Element, factors>::finish(std::byte* values) {
  const Bytes bytes = ending_.value_size();
  std::vector<bool> are_open;  // columns whose terms set aside are needed
  for (std::size_t column = 0; column < sums_.size(); ++column) {
    if (is_written_at_once(sums_[column], values + column * bytes)) continue;
    are_open.resize(sums_.size());
    are_open[column] = true;
  }
  if (are_open.empty()) return;
  AsideTerms of_open;
  aside_.for_each([&](const Aside& term) {
    if (are_open[term.column]) of_open.add(term);
  });
  const Sorted sorted(of_open, sums_.size());
  for (std::size_t column = 0; column < sums_.size(); ++column) {
    if (!are_open[column]) continue;
    const SmallSum& sum = sums_[column][0];
    DigitRange whole;
    digit_range_of_all(column, sorted.of(column), whole);
    ending_.write(sum.all_flags(), (sum.flags & has_minus_zero) != 0 ? 1 : 0, leading(whole, Wide::lowest_exponent),
                  values + column * bytes);
  }
}

template class DealtSums<float, 1>;
template class DealtSums<float, 2>;
template class DealtSums<double, 1>;
template class DealtSums<double, 2>;

}  // namespace steadfold::arithmetic
