#include "arithmetic/superaccumulator/natural.hpp"

#include <algorithm>
#include <cstddef>
#include <span>

namespace steadfold::arithmetic {

Natural::Natural(std::uint64_t number) noexcept : count_(2) {
  digits_[0] = static_cast<std::uint32_t>(number);
  digits_[1] = static_cast<std::uint32_t>(number >> 32);
  trim();
}

Natural::Natural(const DigitRange& range) noexcept : lowest_(range.lowest), count_(range.count) {
  std::copy_n(range.digits.begin(), count_, digits_.begin());
  if (!range.negative) return;
  // Replaces the digits by 2^(32 count) minus the digits.
  bool borrows = false;
  for (int i = 0; i < count_; ++i) {
    std::uint32_t& digit = digits_[static_cast<std::size_t>(i)];
    const bool is_zero = digit == 0;
    digit = borrows ? ~digit : 0 - digit;
    borrows = borrows || !is_zero;
  }
  if (!borrows) digits_[static_cast<std::size_t>(count_++)] = 1;
  trim();
}

void Natural::trim() noexcept {
  while (count_ > 0 && digits_[static_cast<std::size_t>(count_) - 1] == 0) --count_;
  const auto* const begin = digits_.begin();
  const auto zeros = std::find_if(begin, begin + count_, [](std::uint32_t digit) { return digit != 0; }) - begin;
  if (zeros > 0) std::copy(begin + zeros, begin + count_, digits_.begin());
  count_ -= static_cast<int>(zeros);
  lowest_ = count_ == 0 ? 0 : lowest_ + static_cast<int>(zeros);
}

Natural Natural::times(std::uint64_t factor) const noexcept {
  Natural product;
  product.lowest_ = lowest_;
  Uint128 carry = 0;
  for (int i = 0; i < count_ || carry != 0; ++i, carry >>= 32) {
    if (i < count_) carry += Uint128{factor} * digits_[static_cast<std::size_t>(i)];
    product.digits_[static_cast<std::size_t>(product.count_++)] = static_cast<std::uint32_t>(carry);
  }
  product.trim();
  return product;
}

Natural Natural::times(const Natural& factor) const noexcept {
  Natural product;
  product.lowest_ = lowest_ + factor.lowest_;
  product.count_ = count_ + factor.count_;
  std::fill_n(product.digits_.begin(), product.count_, 0);
  for (std::size_t i = 0; i < static_cast<std::size_t>(count_); ++i) {
    std::uint64_t carry = 0;
    const auto behind = static_cast<std::size_t>(factor.count_);
    for (std::size_t j = 0; j < behind; ++j, carry >>= 32) {
      carry += std::uint64_t{digits_[i]} * factor.digits_[j] + product.digits_[i + j];
      product.digits_[i + j] = static_cast<std::uint32_t>(carry);
    }
    product.digits_[i + behind] = static_cast<std::uint32_t>(carry);
  }
  product.trim();
  return product;
}

Natural Natural::plus(const Natural& other) const noexcept {
  if (zero()) return other;
  if (other.zero()) return *this;
  Natural sum;
  sum.lowest_ = std::min(lowest_, other.lowest_);
  const int end = std::max(lowest_ + count_, other.lowest_ + other.count_);
  std::uint64_t carry = 0;
  for (int position = sum.lowest_; position < end || carry != 0; ++position, carry >>= 32) {
    carry += std::uint64_t{digit(position)} + other.digit(position);
    sum.digits_[static_cast<std::size_t>(sum.count_++)] = static_cast<std::uint32_t>(carry);
  }
  sum.trim();
  return sum;
}

bool Natural::operator<(const Natural& other) const noexcept {
  const int lowest = std::min(lowest_, other.lowest_);
  for (int position = std::max(lowest_ + count_, other.lowest_ + other.count_); position-- > lowest;)
    if (digit(position) != other.digit(position)) return digit(position) < other.digit(position);
  return false;
}

Natural Natural::minus(const Natural& other) const noexcept {
  Natural difference;
  difference.lowest_ = other.zero() ? lowest_ : std::min(lowest_, other.lowest_);
  std::int64_t borrow = 0;
  for (int position = difference.lowest_; position < lowest_ + count_; ++position, borrow >>= 32) {
    borrow += std::int64_t{digit(position)} - other.digit(position);
    difference.digits_[static_cast<std::size_t>(difference.count_++)] = static_cast<std::uint32_t>(borrow);
  }
  difference.trim();
  return difference;
}

namespace {

/// The remainder of a long division. The remainder is less than the divisor, digit by digit, with room for one more
/// bit.
class Rest {
 public:
  explicit Rest(std::span<const std::uint32_t> divisor) noexcept : divisor_(divisor) {
    std::fill_n(digits_.begin(), divisor.size() + 1, 0);
  }
  bool zero() const noexcept {
    return std::all_of(digits_.begin(), digits_.begin() + size(), [](std::uint32_t digit) { return digit == 0; });
  }
  /// Appends the next bit. If the remainder is not less than the divisor, subtracts the divisor and returns true.
  bool take(std::uint32_t bit) noexcept {
    for (std::ptrdiff_t i = 0; i <= size(); ++i) {
      std::uint32_t& digit = digits_[static_cast<std::size_t>(i)];
      const std::uint32_t carry = digit >> 31;
      digit = digit << 1 | bit;
      bit = carry;
    }
    if (is_below_divisor()) return false;
    std::int64_t borrow = 0;
    for (std::size_t i = 0; i <= divisor_.size(); ++i, borrow >>= 32) {
      borrow += std::int64_t{digits_[i]} - (i < divisor_.size() ? divisor_[i] : 0);
      digits_[i] = static_cast<std::uint32_t>(borrow);
    }
    return true;
  }

 private:
  std::ptrdiff_t size() const noexcept { return static_cast<std::ptrdiff_t>(divisor_.size()); }
  bool is_below_divisor() const noexcept {
    if (digits_[divisor_.size()] != 0) return false;
    for (std::size_t i = divisor_.size(); i-- > 0;)
      if (digits_[i] != divisor_[i]) return digits_[i] < divisor_[i];
    return false;
  }

  std::span<const std::uint32_t> divisor_;
  std::array<std::uint32_t, Natural::most_digits + 1> digits_;
};

}  // namespace

/// Computes a long division, bit by bit from the highest bit, until the quotient has all its bits. The remainder then
/// tells whether the quotient is exact.
Leading Natural::divided_by(const Natural& divisor, int lowest_exponent) const noexcept {
  if (zero()) return {};
  const int there = 32 * count_;
  const auto bit = [&](int i) {  // returns bit i, counted from the highest bit
    return i < there ? digits_[static_cast<std::size_t>(count_ - 1 - i / 32)] >> (31 - i % 32) & 1 : 0;
  };
  Leading quotient;
  Rest rest({divisor.digits_.data(), static_cast<std::size_t>(divisor.count_)});
  int taken = 0;
  while (quotient.bits >> 127 == 0) quotient.bits = quotient.bits << 1 | (rest.take(bit(taken++)) ? 1 : 0);
  // The last bit of the quotient has the weight of the last bit taken.
  quotient.exponent = lowest_exponent + 32 * (lowest_ + count_ - divisor.lowest_) - taken + 127;
  quotient.sticky = !rest.zero();
  while (!quotient.sticky && taken < there) quotient.sticky = bit(taken++) != 0;
  return quotient;
}

}  // namespace steadfold::arithmetic
