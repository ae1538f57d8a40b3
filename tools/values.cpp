#include "values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "schedule/registry.hpp"

namespace steadfold::command {
namespace {

/// Writes a count such as 1e6 or 007 in plain digits, which CLI11 2.3 reads correctly. Returns an error text, or an
/// empty text.
std::string in_digits(std::string& text) {
  const char* const end = text.data() + text.size();
  std::uint64_t digits = 0;
  if (const auto read = std::from_chars(text.data(), end, digits); read.ec == std::errc() && read.ptr == end) {
    text = std::to_string(digits);  // leading zeros would make the number octal
    return "";
  }
  double number = 0;
  const auto read = std::from_chars(text.data(), end, number);
  constexpr double most = 9007199254740992.0;  // largest count; every count up to this limit is a double
  const bool is_count =
      read.ec == std::errc() && read.ptr == end && number >= 0 && number <= most && number == std::floor(number);
  if (!is_count) return "'" + text + "' is not a count, write digits, or a number like 1e6";
  text = fmt::format("{:.0f}", number);
  return "";
}

std::string in_signed_digits(std::string& text) {
  std::string digits = text.starts_with('-') ? text.substr(1) : text;
  const std::string wrong = in_digits(digits);
  if (!wrong.empty()) return "'" + text + "' is not a whole number, write digits";
  text = (text.starts_with('-') ? "-" : "") + digits;
  return "";
}

std::string finite(std::string& text) {
  double number = 0;
  const char* const begin = text.data() + (text.starts_with('+') ? 1 : 0);
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(begin, end, number);
  if (read.ec == std::errc() && read.ptr == end && std::isfinite(number)) return "";
  return "'" + text + "' is not a finite double, write a finite number";
}

std::string not_empty(std::string& text) {
  return text.empty() ? "its value is empty, give a value or leave out the option" : "";
}

/// Returns the names of an option on the command line, such as --ranks.
std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* const option : app.get_options())
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  return names;
}

/// Returns the words that a subcommand takes besides its options, such as "FILE".
std::string words_of(const CLI::App& app) {
  std::string words;
  for (const CLI::Option* const option : app.get_options())
    if (option->get_positional()) words += (words.empty() ? "" : " and ") + option->get_name();
  return words;
}

/// Whether the words of an option are passed to another program. These words may be empty.
bool is_of_another_program(const CLI::Option& option) { return option.get_name() == "command"; }

}  // namespace

void refuse_odd_values(CLI::App& app) {
  for (CLI::App* const subcommand : app.get_subcommands({})) {
    for (CLI::Option* const option : subcommand->get_options()) {
      if (option->get_items_expected_max() == 0 || is_of_another_program(*option)) continue;
      const std::string type = option->get_type_name();
      auto* const rule = type.starts_with("UINT")    ? in_digits
                         : type.starts_with("INT")   ? in_signed_digits
                         : type.starts_with("FLOAT") ? finite
                                                     : not_empty;
      option->transform(CLI::Validator(rule, ""));
    }
  }
}

void check_words(CLI::Option& option, std::function<void(const std::string& word)> check) {
  option.check([check = std::move(check)](const std::string& word) {
    check(word);
    return std::string();
  });
}

std::optional<Failure> unknown_word(const CLI::App& subcommand, std::span<char* const> arguments) {
  if (subcommand.get_allow_extras()) return std::nullopt;
  const std::vector<std::string> known = option_names(subcommand);
  for (const std::string_view word : arguments) {
    if (word == "--") break;
    const std::string name(word.substr(0, word.find('=')));
    if (name.starts_with("--") && std::ranges::find(known, name) == known.end())
      return Failure(schedule::unknown_name("option", name, known));
  }
  std::vector<std::string> left = subcommand.remaining();
  std::erase(left, "--");
  if (left.empty()) return std::nullopt;
  const std::string words = words_of(subcommand);
  return Failure(fmt::format("the word '{}' cannot be used (steadfold {} takes {}), leave out this word", left.front(),
                             subcommand.get_name(), words.empty() ? "only options" : words + " and options"));
}

void refuse_empty_options(std::span<char* const> arguments) {
  for (const std::string_view word : arguments) {
    if (word == "--") return;
    if (word.size() > 3 && word.starts_with("--") && word.ends_with('='))
      throw Failure(fmt::format("{} cannot be understood (its value is empty), give a value or leave out the option",
                                word.substr(0, word.size() - 1)));
  }
}

void refuse_unused(const CLI::App& subcommand, std::string_view user, std::span<const OptionUse> uses) {
  for (const auto& [option, users] : uses) {
    if (subcommand.get_option(std::string(option))->count() == 0 || std::ranges::find(users, user) != users.end())
      continue;
    throw Failure(fmt::format("{} cannot be used with {} {} (the option is only for {}), leave out the option", option,
                              subcommand.get_name(), user, fmt::join(users, ", ")));
  }
}

}  // namespace steadfold::command
