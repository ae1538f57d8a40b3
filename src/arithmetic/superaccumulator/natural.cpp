#include "arithmetic/superaccumulator/natural.hpp"

#include <algorithm>
#include <bit>
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

/// The remainder of a long division in digits of 32 bits, and the divisor, shifted so that its highest bit is set. The
/// remainder is less than the divisor, and has room for one more digit.
class Rest {
 public:
  Rest(std::span<const std::uint32_t> divisor, int shift) noexcept : size_(divisor.size()) {
    std::fill_n(digits_.begin(), size_ + 1, 0);
    for (std::size_t i = 0; i < size_; ++i) divisor_[i] = shifted(divisor[i], i == 0 ? 0 : divisor[i - 1], shift);
  }

  /// Returns the upper digit of two digits that are shifted to the left.
  static std::uint32_t shifted(std::uint32_t digit, std::uint32_t below, int shift) noexcept {
    return static_cast<std::uint32_t>((std::uint64_t{digit} << 32 | below) >> (32 - shift));
  }

  bool zero() const noexcept {
    return std::all_of(digits_.begin(), digits_.begin() + size_, [](std::uint32_t digit) { return digit == 0; });
  }
  /// Appends a digit. The remainder must stay below the divisor.
  void append(std::uint32_t digit) noexcept {
    std::copy_backward(digits_.begin(), digits_.begin() + size_, digits_.begin() + size_ + 1);
    digits_[0] = digit;
  }
  /// Appends a digit, and divides: returns the next digit of the quotient.
  std::uint32_t divide(std::uint32_t digit) noexcept {
    append(digit);
    std::uint64_t quotient = estimate();
    if (subtract(quotient)) return static_cast<std::uint32_t>(quotient);
    add_divisor();
    return static_cast<std::uint32_t>(quotient - 1);
  }

 private:
  /// Returns the quotient's digit, or one more, from the first digits of both numbers.
  std::uint64_t estimate() const noexcept {
    const std::uint64_t first = divisor_[size_ - 1];
    const std::uint64_t dividend = std::uint64_t{digits_[size_]} << 32 | digits_[size_ - 1];
    std::uint64_t quotient = std::min(dividend / first, std::uint64_t{0xFFFFFFFF});
    if (size_ == 1) return quotient;
    std::uint64_t rest = dividend - quotient * first;
    while (rest >> 32 == 0 && quotient * divisor_[size_ - 2] > (rest << 32 | digits_[size_ - 2])) {
      --quotient;
      rest += first;
    }
    return quotient;
  }
  /// Subtracts a multiple of the divisor. Returns false if the remainder became negative.
  bool subtract(std::uint64_t factor) noexcept {
    std::uint64_t carry = 0;
    std::int64_t borrow = 0;
    for (std::size_t i = 0; i <= size_; ++i) {
      carry += i < size_ ? factor * divisor_[i] : 0;
      borrow += std::int64_t{digits_[i]} - static_cast<std::int64_t>(carry & 0xFFFFFFFF);
      digits_[i] = static_cast<std::uint32_t>(borrow);
      carry >>= 32;
      borrow >>= 32;
    }
    return borrow == 0;
  }
  void add_divisor() noexcept {
    std::uint64_t carry = 0;
    for (std::size_t i = 0; i <= size_; ++i, carry >>= 32) {
      carry += std::uint64_t{digits_[i]} + (i < size_ ? divisor_[i] : 0);
      digits_[i] = static_cast<std::uint32_t>(carry);
    }
  }

  std::size_t size_;
  std::array<std::uint32_t, Natural::most_digits> divisor_;
  std::array<std::uint32_t, Natural::most_digits + 1> digits_;
};

}  // namespace

/// Computes a long division by Knuth's algorithm D (The Art of Computer Programming, volume 2, 4.3.1), until the
/// quotient has five digits that count. The remainder then tells whether the quotient is exact.
Leading Natural::divided_by(const Natural& divisor, int lowest_exponent) const noexcept {
  if (zero()) return {};
  const auto size = static_cast<std::size_t>(divisor.count_);
  const int shift = std::countl_zero(divisor.digits_[size - 1]);
  int taken = 0;
  const auto next = [&] {  // the next digit of the shifted dividend, from the highest
    const int place = lowest_ + count_ - taken++;
    return Rest::shifted(digit(place), digit(place - 1), shift);
  };
  Rest rest({divisor.digits_.data(), size}, shift);
  for (std::size_t i = 1; i < size; ++i) rest.append(next());
  std::uint32_t first = 0;
  while (first == 0) first = rest.divide(next());
  Uint128 others = 0;
  for (int i = 0; i < 4; ++i) others = others << 32 | rest.divide(next());
  const int width = 32 - std::countl_zero(first);
  Leading quotient;
  quotient.bits = Uint128{first} << (128 - width) | others >> width;
  // The last digit of the quotient has the weight of the last digit taken.
  quotient.exponent = lowest_exponent + 32 * (lowest_ + count_ + 1 - taken - divisor.lowest_) + width + 127;
  quotient.sticky = (others & ((Uint128{1} << width) - 1)) != 0 || !rest.zero();
  while (!quotient.sticky && taken <= count_) quotient.sticky = next() != 0;
  return quotient;
}

}  // namespace steadfold::arithmetic
