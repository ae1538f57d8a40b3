// Rules for all options: no option takes an empty text, numbers are finite, and counts have a greatest value. The file
// also finds options that a benchmark or a study does not use.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "program/job.hpp"

namespace steadfold::command {

/// The largest number of elements of one vector: 80 GB of doubles.
inline constexpr std::uint64_t most_elements_in_memory = 10'000'000'000;
/// The largest number of bytes, or of elements, in predictions.
inline constexpr std::uint64_t most_reckoned = std::uint64_t{1} << 62;

/// Accepts counts from `least` to `most`. The help shows both limits.
inline CLI::Range from_to(std::uint64_t least, std::uint64_t most) { return {least, most}; }

/// Makes every option of the subcommands refuse empty texts and numbers that are not finite.
void refuse_odd_values(CLI::App& app);

/// Throws Failure if a word of the command line is an option without a value after the sign, such as --column=. The
/// parser would take the next word as its value.
void refuse_empty_options(std::span<char* const> arguments);

/// Checks every word of an option when the line is parsed; `check` throws Failure. Errors are reported in the order in
/// which options are declared, and before missing options. So positional words are declared first.
void check_words(CLI::Option& option, std::function<void(const std::string& word)> check);

/// Returns the error for words that the subcommand does not know: the first unknown option, with the nearest name, else
/// the first surplus word. `nullopt` if all words are known. `arguments` are the arguments of the command.
std::optional<Failure> unknown_word(const CLI::App& subcommand, std::span<char* const> arguments);

/// The benchmarks, or the studies, that use an option.
struct OptionUse {
  std::string_view option;
  std::vector<std::string_view> users;
};

/// Throws Failure if `user`, a benchmark or a study of the subcommand, does not use a given option. Every user takes
/// the options that the table does not have.
void refuse_unused(const CLI::App& subcommand, std::string_view user, std::span<const OptionUse> uses);

}  // namespace steadfold::command
