// Numbers written in text: decimal, nan and inf, correctly rounded whatever the locale.
#pragma once

#include <string_view>

namespace steadfold::readers {

enum class NumberFault { none, not_a_number, too_large };

/// Blanks within a line.
constexpr bool is_space(char c) noexcept { return c == ' ' || c == '\t'; }
/// What separates numbers, line ends included.
constexpr bool is_blank(char c) noexcept { return is_space(c) || c == '\n' || c == '\r' || c == '\v' || c == '\f'; }

std::string_view trimmed(std::string_view text) noexcept;

/// Reads one number; blanks around it and a leading + are allowed. A number too small to be represented rounds to a
/// zero of its sign, like any other rounding; one too large is a fault, not an infinity.
NumberFault parse_number(std::string_view text, double& value) noexcept;
NumberFault parse_number(std::string_view text, float& value) noexcept;

}  // namespace steadfold::readers
