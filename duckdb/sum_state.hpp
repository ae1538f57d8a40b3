// The exact sum of one group, which is part of a state of an aggregate function. DuckDB may move states as bytes.
// Rank order: none. Cost: 32 bytes, 56 for products. Groups with terms set aside, or with many rows in a chunk, also
// have an accumulator: 680 bytes, 1208 for products.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "arithmetic/exact/moments.hpp"
#include "arithmetic/exact/small_sum.hpp"
#include "duckdb/accumulators.hpp"

namespace steadfold::duckdb {

/// The exact sum of doubles (factors = 1) or of products of two doubles (factors = 2). Copies of an object share its
/// accumulator, so only one copy may be used further. All calls must name the same owner of accumulators. Use an object
/// from one thread at a time. Functions that add may throw std::bad_alloc.
template <int factors>
class SumState {
  using Small = arithmetic::SmallSum<factors>;
  using Wide = Accumulators::Wide<factors>;

  /// Returns the function to which small sums pass terms without room. It adds them to the accumulator.
  auto set_aside(Accumulators& owner) noexcept {
    return [this, &owner](Small& sum, std::int64_t value, int unit, int end) {
      sum.note_aside(end);
      wide(owner).add_scaled(value, unit + Small::exponent_of_unit);
    };
  }
  Wide& wide(Accumulators& owner) {
    if (wide_ == nullptr) wide_ = &owner.take<factors>();
    return *wide_;
  }

 public:
  using Term = std::conditional_t<factors == 2, arithmetic::Factors, double>;

  void add(const Term& term, Accumulators& owner) { arithmetic::add_term(small_, term, set_aside(owner)); }
  /// Adds contiguous elements, or their products with the elements of `second`. Faster than `add` for many rows. The
  /// promised environment (arithmetic/environment.hpp) must be in force.
  void add_rows(const double* first, const double* second, std::size_t rows, Accumulators& owner) {
    wide(owner).add_rows(reinterpret_cast<const std::byte*>(first), reinterpret_cast<const std::byte*>(second), rows,
                         sizeof(double));
  }
  /// Adds another sum, which does not change.
  void merge(const SumState& other, Accumulators& owner) {
    for (std::size_t part = 0; part < small_.size(); ++part)
      small_[part].add_integer(other.small_[part], set_aside(owner));
    small_[0].flags |= other.flags();
    if (other.wide_ == nullptr) return;
    arithmetic::DigitRange range;
    other.wide_->digit_range(range);
    wide(owner).add_digit_range(range, other.wide_->special(), false);
  }
  void give_back(Accumulators& owner) noexcept {
    if (wide_ != nullptr) owner.give_back<factors>(*std::exchange(wide_, nullptr));
  }

  bool has_rows() const noexcept { return flags() != arithmetic::no_flags; }
  /// Returns the exact sum of `rows` terms.
  arithmetic::ExactSum exact(std::uint64_t rows) const noexcept;
  /// Returns the sum, rounded once. The sum must have rows.
  double rounded() const noexcept;

 private:
  /// Returns the flags of all terms. has_minus_zero may be missing if not_minus_zero is set.
  std::uint8_t flags() const noexcept {
    using arithmetic::has_minus_zero, arithmetic::not_minus_zero;
    std::uint8_t all = small_[0].flags;
    if (small_[0].has_terms) all |= not_minus_zero;
    if (wide_ == nullptr) return all;
    all |= wide_->flags();
    if (wide_->rows() > 0 && wide_->flags() == arithmetic::no_flags) all |= has_minus_zero;
    return all;
  }
  arithmetic::Flags flags_of_sum() const noexcept {
    return static_cast<arithmetic::Flags>(flags() & ~arithmetic::has_minus_zero);
  }
  arithmetic::SmallSums<factors> small_{};
  Wide* wide_ = nullptr;
};

template <int factors>
arithmetic::ExactSum SumState<factors>::exact(std::uint64_t rows) const noexcept {
  arithmetic::ExactSum sum{.flags = flags_of_sum(), .rows = rows};
  if constexpr (factors == 1) {
    if (wide_ == nullptr) {
      arithmetic::digit_range_of(small_[0], Wide::lowest_exponent, sum.range);
      return sum;
    }
  }
  Wide all;
  if (wide_ != nullptr) {
    wide_->digit_range(sum.range);
    all.add_digit_range(sum.range, arithmetic::no_flags, false);
  }
  for (const auto& part : small_) part.add_to(all);
  all.digit_range(sum.range);
  return sum;
}

template <int factors>
double SumState<factors>::rounded() const noexcept {
  if constexpr (factors == 1) {
    if (wide_ == nullptr)
      return arithmetic::rounded<double>(flags_of_sum(), 1,
                                         arithmetic::leading(small_[0].value(), small_[0].exponent()));
  }
  const arithmetic::ExactSum sum = exact(1);
  return arithmetic::rounded<double>(sum.flags, sum.rows, arithmetic::leading(sum.range, Wide::lowest_exponent));
}

// DuckDB moves states as bytes.
static_assert(std::is_trivially_copyable_v<SumState<1>> && sizeof(SumState<1>) == 32);
static_assert(std::is_trivially_copyable_v<SumState<2>> && sizeof(SumState<2>) == 56);

}  // namespace steadfold::duckdb
