#include "number.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <limits>
#include <utility>

#include "file.hpp"

namespace steadfold::readers {
namespace {

/// Whether the number `text` (no sign, no 0x) is below 1. This distinguishes underflow from overflow, which from_chars
/// does not do. A hexadecimal number has a power of two as its exponent.
bool below_one(std::string_view text, bool is_hexadecimal) noexcept {
  const std::size_t mark = std::min(text.find_first_of(is_hexadecimal ? "pP" : "eE"), text.size());
  // Number of digits before the point, without leading zeros; negative: minus the number of zeros after the point.
  long digits_before_point = 0;
  bool point = false;
  bool significant = false;
  for (const char c : text.substr(0, mark)) {
    point = point || c == '.';
    significant = significant || (c != '0' && c != '.');
    if (c == '.') continue;
    if (significant && !point) ++digits_before_point;
    if (!significant && point) --digits_before_point;
  }
  if (is_hexadecimal) digits_before_point *= 4;  // a digit has four bits; the exponent of an extreme number is larger
  if (mark == text.size()) return digits_before_point <= 0;
  std::string_view exponent = text.substr(mark + 1);
  const bool negative = exponent.starts_with('-');
  if (negative || exponent.starts_with('+')) exponent.remove_prefix(1);
  long power = 0;
  for (const char c : exponent) power = std::min(power * 10 + (c - '0'), 1000000000L);
  return digits_before_point + (negative ? -power : power) <= 0;
}

/// Whether `value`, the rounded number, is exactly the number that the digits of the text represent.
template <class T>
bool is_exact(std::string_view digits, T value) noexcept {
  digits.remove_prefix(std::min(digits.find_first_not_of('0'), digits.size()));
  if (digits.size() <= std::numeric_limits<T>::digits10) return true;
  std::array<char, std::numeric_limits<T>::max_exponent10 + 2> exact;
  const auto [end, failed] =
      std::to_chars(exact.data(), exact.data() + exact.size(), value, std::chars_format::fixed, 0);
  return failed == std::errc() && std::string_view(exact.data(), end) == digits;
}

/// Whether the text may be a number with a Fortran exponent, after a letter d or q. Fortran always writes a decimal
/// mark, which distinguishes its numbers from names such as 2020Q1.
bool has_fortran_exponent(std::string_view text, char decimal_mark) noexcept {
  const std::size_t letter = text.find_first_of("dDqQ");
  return letter != std::string_view::npos && text.substr(0, letter).find(decimal_mark) != std::string_view::npos &&
         text.find_first_not_of("+-.,0123456789dDqQ") == std::string_view::npos;
}

/// Writes the number with a decimal point, and with e before its exponent, as from_chars reads numbers. Returns an
/// empty text if it has a point although its decimal mark is a comma.
std::string with_point(std::string_view text, char decimal_mark) {
  std::string result(text);
  if (decimal_mark == ',' && result.find('.') != std::string::npos) return {};
  std::ranges::replace(result, decimal_mark, '.');
  if (has_fortran_exponent(text, decimal_mark))
    std::ranges::replace_if(
        result, [](char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }, 'e');
  return result;
}

/// Reads a number whose decimal mark is a point, without blanks and without a plus sign.
template <class T>
NumberFault parse_plain(std::string_view text, T& value) noexcept {
  const bool negative = text.starts_with('-');
  std::string_view digits = text.substr(negative ? 1 : 0);
  const bool is_hexadecimal = digits.starts_with("0x") || digits.starts_with("0X");
  if (is_hexadecimal) text = digits = digits.substr(2);
  // from_chars reads a sign, inf and nan after 0x, too.
  if (is_hexadecimal && (digits.find_first_of("pP") == std::string_view::npos ||
                         !(std::isxdigit(static_cast<unsigned char>(digits.front())) != 0 || digits.front() == '.')))
    return NumberFault::not_a_number;
  const auto form = is_hexadecimal ? std::chars_format::hex : std::chars_format::general;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value, form);
  if (fault == std::errc::invalid_argument || end != text.data() + text.size()) return NumberFault::not_a_number;
  if (is_hexadecimal && negative) value = -value;
  if (fault != std::errc::result_out_of_range) {
    const bool is_integer = !is_hexadecimal && are_digits(digits);
    return is_integer && !is_exact(digits, negative ? -value : value) ? NumberFault::inexact : NumberFault::none;
  }
  if (!below_one(digits, is_hexadecimal)) return NumberFault::too_large;
  value = negative ? -T{0} : T{0};
  return NumberFault::none;
}

template <class T>
NumberFault parse(std::string_view text, T& value, char decimal_mark) {
  text = trimmed(text);
  if (text.starts_with('+')) {
    text.remove_prefix(1);
    if (text.starts_with('-')) return NumberFault::not_a_number;
  }
  if (decimal_mark == '.' && !has_fortran_exponent(text, '.')) return parse_plain(text, value);
  return parse_plain(std::string_view(with_point(text, decimal_mark)), value);
}

/// Replaces signs and blanks that are not ASCII by ASCII characters.
std::string in_ascii(std::string_view text) {
  constexpr std::array<std::pair<std::string_view, char>, 6> others = {{{"\xE2\x88\x92", '-'},    // minus sign
                                                                        {"\xE2\x80\x93", '-'},    // en dash
                                                                        {"\xE2\x80\xAF", ' '},    // narrow blank
                                                                        {"\xE2\x80\x89", ' '},    // thin blank
                                                                        {"\xC2\xA0", ' '},        // no-break blank
                                                                        {"\xE2\x82\xAC", '$'}}};  // euro
  std::string result(text);
  for (const auto& [other, ascii] : others)
    for (std::size_t i = 0; (i = result.find(other, i)) != std::string::npos; ++i)
      result.replace(i, other.size(), 1, ascii);
  return result;
}

/// Whether the text is one that programs write for a missing number.
bool is_missing_value(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  constexpr std::array<std::string_view, 25> words = {
      "na", "n/a",  "n.a.", "#n/a", "<na>", "nat", "null",    "none",    "nil",   "missing", "unknown", "undef", "void",
      "nd", "n.d.", "-",    "--",   "?",    ".",   "#div/0!", "#value!", "#ref!", "#name?",  "#num!",   "#null!"};
  return std::ranges::find(words, lower) != words.end();
}

/// Whether the text consists of asterisks, which Fortran writes if a field is too narrow for the number.
bool are_asterisks(std::string_view text) { return !text.empty() && text.find_first_not_of('*') == std::string::npos; }

/// Whether the exponent follows no letter, as in 0.1-299.
bool has_exponent_without_letter(std::string_view text, char decimal_mark) {
  const std::size_t mark = text.find_first_of("+-", 1);
  if (mark == std::string_view::npos || !(is_digit(text[mark - 1]) || text[mark - 1] == decimal_mark)) return false;
  return text.substr(0, mark).find(decimal_mark) != std::string_view::npos && are_digits(text.substr(mark + 1));
}

/// Returns the length in bytes of the text's first character, if it is neither a letter nor a digit; otherwise 0.
std::size_t symbol_size(std::string_view text) noexcept {
  if (text.empty()) return 0;
  const auto first = static_cast<unsigned char>(text.front());
  if (first < 0x80) return std::isalnum(first) == 0 ? 1 : 0;
  const unsigned char second = text.size() > 1 ? static_cast<unsigned char>(text[1]) : 0;
  const bool is_letter = second == 0xAA || second == 0xB5 || second == 0xBA;
  std::size_t size = 0;
  // U+0080 to U+00BF, such as the degree and plus-minus signs.
  if (first == 0xC2 && !is_letter) size = 2;
  if (first == 0xC3 && (second == 0x97 || second == 0xB7)) size = 2;  // multiplication sign, division sign
  // U+2000 to U+22FF: punctuation and mathematical signs.
  if (first == 0xE2 && second >= 0x80 && second <= 0x8B) size = 3;
  if (text.starts_with("\xEF\xBB\xBF")) size = 3;  // byte order mark
  return std::min(size, text.size());
}

}  // namespace

bool are_digits(std::string_view text) noexcept { return !text.empty() && std::ranges::all_of(text, is_digit); }

std::string_view trimmed(std::string_view text) noexcept {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

NumberFault parse_number(std::string_view text, double& value, char decimal_mark) {
  return parse(text, value, decimal_mark);
}
NumberFault parse_number(std::string_view text, float& value, char decimal_mark) {
  return parse(text, value, decimal_mark);
}

bool resembles_number(std::string_view text) {
  text = trimmed(text);
  if (is_missing_value(in_ascii(text))) return true;
  for (std::size_t size = 0; (size = symbol_size(text)) > 0;) text.remove_prefix(size);
  return text.empty() || is_digit(text.front());
}

Complaint complaint_about(std::string_view text, NumberFault fault, Type type, const Notation& notation) {
  const std::string quoted = shown(trimmed(text));
  const std::string name(name_of(type));
  const bool has_comma = notation.decimal_mark == ',';
  if (fault == NumberFault::too_large) return {quoted + " is too large for " + name, "scale the numbers or write inf"};
  if (fault == NumberFault::inexact)
    return {quoted + " is an integer that type " + name + " cannot hold exactly",
            std::string("write the number with a ") + (has_comma ? "comma, as 5,0" : "point, as 5.0") +
                ", so that it is rounded"};
  const std::string ascii = in_ascii(trimmed(text));
  std::string suggestion = "correct this number";
  if (is_missing_value(ascii))
    suggestion = notation.is_in_table ? "write nan, remove the row, or leave out these rows with --missing"
                                      : "write nan, or remove the row";
  if (are_asterisks(ascii)) suggestion = "write the number again in a wider field";
  if (resembles_number(text)) {
    if (has_exponent_without_letter(ascii, notation.decimal_mark)) suggestion = "write the exponent with e";
    if (trimmed(text).find_first_of(" \t") != std::string::npos)
      suggestion = "put a comma or a tab between fields, or use --separator blanks";
    if (ascii != trimmed(text)) suggestion = "write minus signs as - and leave out special blanks and currency signs";
    const std::string thousands = "write no separators between thousands";
    if (ascii.find(',') != std::string::npos) suggestion = "write decimal points, and " + thousands;
    if (ascii.find(',') != std::string::npos && notation.is_in_table)
      suggestion = "write decimal points or use --decimal comma, and " + thousands;
    if (ascii.find(',') != std::string::npos && notation.is_between_blanks)
      suggestion =
          "use --separator comma if commas are between the fields, or --decimal comma if commas are decimal marks";
    if (has_comma && ascii.find('.') != std::string::npos)
      suggestion = "write decimal commas or leave out --decimal comma, and " + thousands;
  }
  return {quoted + " is not a number", suggestion};
}

}  // namespace steadfold::readers
