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
// Bits; the largest shift of a term: a shifted term has at most 126 bits.
constexpr unsigned most_shift = 126 - Format<double>::precision;
constexpr int usual_shift = 30;  // bits; shift of the first term, because later terms may be smaller or larger
// The largest unit; infinities and NaNs do not fit it.
constexpr int highest_unit = 2046 - static_cast<int>(most_shift);
constexpr int exponent_of_unit = Format<double>::lowest_exponent - 1;  // exponent of the unit with number 0

int biased_exponent(std::uint64_t bits) noexcept {
  return static_cast<int>(bits >> exponent_at & Format<double>::exponent_mask);
}

/// Returns the integer of a finite term, in units that depend on the term's exponent.
Int128 integer_of(std::uint64_t bits) noexcept {
  using F = Format<double>;
  const std::uint64_t implicit = biased_exponent(bits) == 0 ? 0 : F::implicit_bit;
  const auto magnitude = static_cast<Int128>((bits & (F::implicit_bit - 1)) | implicit);
  return (bits & F::sign_bit) != 0 ? -magnitude : magnitude;
}

/// Returns the number of trailing zero bits of a value that is not 0.
int zeros_below(Int128 value) noexcept {
  const auto low = static_cast<std::uint64_t>(value);
  return low != 0 ? std::countr_zero(low) : 64 + std::countr_zero(static_cast<std::uint64_t>(value >> 64));
}

template <class Element>
void add_terms(std::span<const Element> terms, Accumulator<Element, 1>& sum) noexcept {
  const auto* const bytes = reinterpret_cast<const std::byte*>(terms.data());
  sum.add_rows(bytes, bytes, terms.size(), sizeof(Element));
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
    unit = static_cast<std::uint16_t>(std::clamp(exponent - usual_shift, 1, highest_unit));
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
}

template <class Element>
void DealtSums<Element>::add(std::span<const std::uint32_t> columns, const std::byte* elements) {
  if (usual_unit_ == no_unit) begin_with_units(std::span(elements, columns.size() * sizeof(Element)));
  for_each_dealt<Element>(columns, elements, sums_.data(), [this](SmallSum& sum, Element element) {
    if (!sum.add(std::bit_cast<std::uint64_t>(static_cast<double>(element)))) [[unlikely]]
      add_elsewhere(sum, element);
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
void DealtSums<Element>::add_elsewhere(SmallSum& sum, Element element) {
  const double term = element;
  if (!note_dealt(term, sum.flags)) return;
  const auto bits = std::bit_cast<std::uint64_t>(term);
  const int exponent = std::max(biased_exponent(bits), 1);
  Int128 all = 0;
  const bool has_room = sum.wide == none && sum.change_unit(exponent) &&
                        !__builtin_add_overflow(sum.value(), integer_of(bits) << (exponent - sum.unit), &all);
  if (has_room) return sum.put(all);
  if (aside_.size() == most_aside()) add_to_accumulators();
  aside_.push_back({element, static_cast<std::uint32_t>(&sum - sums_.data())});
  if (sum.wide == none) sum.wide = only_aside;
}

template <class Element>
DealtSums<Element>::Sorted::Sorted(std::span<const Aside> aside, std::size_t columns)
    : terms(aside.size()), ends(aside.empty() ? 0 : columns + 1) {
  if (aside.empty()) return;
  for (const Aside& each : aside) ++ends[each.column + 1];
  std::partial_sum(ends.begin(), ends.end(), ends.begin());
  for (const Aside& each : aside) terms[ends[each.column]++] = each.term;
}

template <class Element>
void DealtSums<Element>::add_to_accumulators() {
  const Sorted sorted(aside_, sums_.size());
  for (std::size_t column = 0; column < sums_.size(); ++column) {
    const std::span<const Element> terms = sorted.of(column);
    if (!terms.empty()) add_terms(terms, wide_of(sums_[column]));
  }
  aside_.clear();
}

template <class Element>
auto DealtSums<Element>::wide_of(SmallSum& sum) -> Wide& {
  if (sum.wide < only_aside) return wides_[sum.wide];
  if (wides_in_use_ == wides_.size())
    wides_.emplace_back();
  else
    wides_[wides_in_use_].clear();
  sum.wide = wides_in_use_++;
  return wides_[sum.wide];
}

/// Returns the sum of a column as digits, counted from 2^(lowest exponent of the elements). Floats are multiples of
/// this power.
template <class Element>
void DealtSums<Element>::window(std::size_t column, const Sorted& sorted, DigitWindow& window) noexcept {
  const SmallSum& sum = sums_[column];
  Int128 all = sum.value();
  if (all == 0) {
    make_window({}, 0, window);
  } else {
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
  if (sum.wide == none) return;
  Wide& wide = sum.wide == only_aside ? few_ : wides_[sum.wide];
  add_terms(sorted.of(column), wide);
  wide.add_window(window, no_flags, false);
  wide.window(window);
  few_.clear();
}

/// Makes a narrow group of the sums. Returns false if there is no unit in which all columns fit.
template <class Element>
bool DealtSums<Element>::read_narrow(std::span<const SmallSum> sums, NarrowGroup& group) const noexcept {
  constexpr int of_unit = exponent_of_unit - Wide::lowest_exponent;
  int lowest = std::numeric_limits<int>::max();  // exponent of the lowest set bit
  for (const SmallSum& sum : sums) {
    if (sum.wide != none) return false;
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

/// Whether the sum rounds to +0.0 or to a normal double.
template <class Element>
bool DealtSums<Element>::is_rounded_at_once(const SmallSum& sum) const noexcept {
  const int exponent = sum.unit + exponent_of_unit;
  const bool is_normal = exponent >= lowest_normal_unit && exponent <= highest_normal_unit;
  const bool has_only_terms = (sum.flags & ~not_minus_zero) == 0 && sum.wide == none;
  return has_only_terms && (is_normal || (sum.low | sum.high) == 0);
}

template <class Element>
void DealtSums<Element>::finish(std::byte* values) {
  const Sorted sorted(aside_, sums_.size());
  const bool only_rounds = ending_.only_rounds();
  for (std::size_t column = 0; column < sums_.size(); ++column, values += ending_.value_size()) {
    const SmallSum& sum = sums_[column];
    if (only_rounds && is_rounded_at_once(sum)) [[likely]] {
      const std::uint64_t bits = rounded_normal(sum.value(), sum.unit + exponent_of_unit);
      std::memcpy(values, &bits, sizeof bits);
      continue;
    }
    Leading all;
    if (sum.wide == none) {
      all = leading(sum.value(), sum.unit + exponent_of_unit);
    } else {
      DigitWindow whole;
      window(column, sorted, whole);
      all = leading(whole, Wide::lowest_exponent);
    }
    ending_.write(sum.all_flags(), (sum.flags & has_minus_zero) != 0 ? 1 : 0, all, values);
  }
}

template class DealtSums<float>;
template class DealtSums<double>;

}  // namespace steadfold::arithmetic
