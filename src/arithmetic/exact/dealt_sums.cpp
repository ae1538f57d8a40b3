#include "arithmetic/exact/dealt_sums.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <numeric>

namespace steadfold::arithmetic {

template <class Element, int factors>
void DealtSums<Element, factors>::clear() noexcept {
  std::ranges::fill(sums_, clear_);
  aside_.clear();
  wides_in_use_ = 0;
  wide_of_column_.clear();
}

template <class Element, int factors>
void DealtSums<Element, factors>::add(std::span<const std::uint32_t> columns, const std::byte* terms) {
  if (clear_[0].unit == Small::no_unit) begin_with_units(std::span(terms, columns.size() * sizeof(Term)));
  for_each_dealt<Term>(columns, terms, sums_.data(), [this](ColumnSum& sums, const Term& term) {
    add_term(sums, term,
             [this](Small& sum, std::int64_t value, int unit, int end) { set_aside(sum, value, unit, end); });
  });
}

/// Gives all sums the unit that the first term needs. They also begin later rounds with it.
template <class Element, int factors>
void DealtSums<Element, factors>::begin_with_units(std::span<const std::byte> terms) noexcept {
  for (; !terms.empty() && clear_[0].unit == Small::no_unit; terms = terms.subspan(sizeof(Term))) {
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
    for (std::size_t part = 0; part < clear_.size(); ++part)
      if (sum[part].unit == Small::no_unit) sum[part].unit = clear_[part].unit;
}

/// Sets value 2^(unit + exponent_of_unit) aside, which is below 2^(end + exponent_of_unit).
template <class Element, int factors>
inline void DealtSums<Element, factors>::set_aside(Small& sum, std::int64_t value, int unit, int end) {
  const std::size_t column = static_cast<std::size_t>(&sum - sums_.front().data()) / clear_.size();
  sum.note_aside(end);
  if (sums_.size() <= few_columns) return wide_for(column).add_scaled(value, unit + Small::exponent_of_unit);
  if (aside_.size() == most_aside()) add_to_accumulators();
  aside_.add({value, unit, static_cast<std::uint32_t>(column)});
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
    for (const Aside& term : terms) wide.add_scaled(term.value, term.unit + Small::exponent_of_unit);
  }
  aside_.clear();
}

/// The sum of all terms of a column, in digits from 2^(lowest exponent of the terms) on. All terms are multiples of it.
template <class Element, int factors>
void DealtSums<Element, factors>::digit_range(std::size_t column, const Sorted& sorted, DigitRange& range) noexcept {
  const Small& sum = sums_[column][0];
  if (are_cut || sum.aside > 0) return digit_range_of_all(column, sorted.of(column), range);
  if constexpr (!are_cut) digit_range_of(sum, Wide::lowest_exponent, range);
}

/// The same with an accumulator.
template <class Element, int factors>
void DealtSums<Element, factors>::digit_range_of_all(std::size_t column, std::span<const Aside> aside,
                                                     DigitRange& range) noexcept {
  Wide* const own = wide_of(column);
  Wide& wide = own == nullptr ? few_ : *own;
  for (const Aside& term : aside) wide.add_scaled(term.value, term.unit + Small::exponent_of_unit);
  for (const Small& sum : sums_[column]) sum.add_to(wide);
  wide.digit_range(range);
  few_.clear();
}

/// Returns false if there is no unit in which all columns fit, or if columns have more than an integer of two words.
template <class Element, int factors>
bool DealtSums<Element, factors>::read_narrow(std::span<const ColumnSum> sums, NarrowGroup& group) const noexcept {
  if (are_cut) return false;
  constexpr int of_unit = Small::exponent_of_unit - Wide::lowest_exponent;
  int lowest = std::numeric_limits<int>::max();  // set bit
  for (const ColumnSum& column : sums) {
    const Small& sum = column[0];
    if (sum.aside > 0) return false;
    if (sum.value() != 0) lowest = std::min(lowest, sum.unit + of_unit + zeros_below(sum.value()));
  }
  group.clear();
  for (std::size_t lane = 0; lane < sums.size(); ++lane) {
    const Small& sum = sums[lane][0];
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
void DealtSums<Element, factors>::write_value(const Small& sum, Int128 value, std::byte* out) const noexcept {
  const int exponent = sum.exponent();
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
  const Small& sum = column[0];
  const Small& low = column.back();
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
    const Small& sum = sums_[column][0];
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
