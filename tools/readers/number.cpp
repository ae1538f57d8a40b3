#include "number.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace steadfold::readers {
namespace {

/// Whether the decimal number `text` (no sign) is below 1. Tells underflow from overflow, which from_chars does not.
bool below_one(std::string_view text) noexcept {
  const std::size_t mark = std::min(text.find_first_of("eE"), text.size());
  long digits_before_point = 0;  // of the number without leading zeros; negative: zeros after the point
  bool point = false;
  bool significant = false;
  for (const char c : text.substr(0, mark)) {
    point = point || c == '.';
    significant = significant || (c >= '1' && c <= '9');
    if (c == '.') continue;
    if (significant && !point) ++digits_before_point;
    if (!significant && point) --digits_before_point;
  }
  if (mark == text.size()) return digits_before_point <= 0;
  std::string_view exponent = text.substr(mark + 1);
  const bool negative = exponent.starts_with('-');
  if (negative || exponent.starts_with('+')) exponent.remove_prefix(1);
  long power = 0;
  for (const char c : exponent) power = std::min(power * 10 + (c - '0'), 1000000000L);
  return digits_before_point + (negative ? -power : power) <= 0;
}

template <class T>
NumberFault parse(std::string_view text, T& value) noexcept {
  text = trimmed(text);
  if (text.starts_with('+')) {
    text.remove_prefix(1);
    if (text.starts_with('-')) return NumberFault::not_a_number;
  }
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (fault == std::errc::invalid_argument || end != text.data() + text.size()) return NumberFault::not_a_number;
  if (fault != std::errc::result_out_of_range) return NumberFault::none;
  const bool negative = text.starts_with('-');
  if (!below_one(text.substr(negative ? 1 : 0))) return NumberFault::too_large;
  value = negative ? -T{0} : T{0};
  return NumberFault::none;
}

}  // namespace

std::string_view trimmed(std::string_view text) noexcept {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

NumberFault parse_number(std::string_view text, double& value) noexcept { return parse(text, value); }
NumberFault parse_number(std::string_view text, float& value) noexcept { return parse(text, value); }

}  // namespace steadfold::readers
