// Reads numbers written in text: decimal, hexadecimal (0x1.8p+3), nan and inf. Numbers are correctly rounded, whatever
// the locale.
#pragma once

#include <string>
#include <string_view>

#include "reader.hpp"

namespace steadfold::readers {

/// What is wrong with the text of a number. `inexact` is an integer, written as digits alone, that the type cannot
/// represent.
enum class NumberFault { none, not_a_number, too_large, inexact };

/// Whether the character is a blank within a line.
constexpr bool is_space(char c) noexcept { return c == ' ' || c == '\t'; }
/// Whether the character separates numbers. Line ends separate numbers, too.
constexpr bool is_blank(char c) noexcept { return is_space(c) || c == '\n' || c == '\r' || c == '\v' || c == '\f'; }

constexpr bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

/// Whether the text has only decimal digits, and at least one.
bool are_digits(std::string_view text) noexcept;

std::string_view trimmed(std::string_view text) noexcept;

/// Reads one number; blanks around it and a leading + are allowed. The exponent follows e, or, if the number has a
/// decimal mark, d or q, as Fortran writes exponents. Hexadecimal numbers have an exponent after p. `decimal_mark` is
/// '.' or ','; with ',' a point is no part of a number. A number with a decimal mark or an exponent is rounded. If the
/// number is too small to be represented, the result is a zero with the number's sign. A number that is too large is an
/// error and never becomes infinity. An integer (digits alone) is never rounded.
NumberFault parse_number(std::string_view text, double& value, char decimal_mark = '.');
NumberFault parse_number(std::string_view text, float& value, char decimal_mark = '.');

/// Whether a text that parse_number refuses may be meant as a number: marks of a missing number (NA, --), and texts
/// with a digit before any letter (1.5-299, 1,234.5, 12:30, <5, 5 kg).
bool resembles_number(std::string_view text);

/// The end of an error about a text that parse_number refuses: "(why), suggestion".
struct Complaint {
  std::string why, suggestion;
};
/// How the numbers of a file are written, for suggestions.
struct Notation {
  char decimal_mark = '.';
  bool is_in_table = false;  // whether the options of tables can be used
  bool is_between_blanks = false;
};
Complaint complaint_about(std::string_view text, NumberFault fault, Type type, const Notation& notation);

}  // namespace steadfold::readers
