// What all options have in common: none takes an empty text, numbers are finite, and counts have a greatest value. And
// which options a benchmark or a study has no use for.
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

/// More elements of one vector are not asked for: 80 GB of doubles.
inline constexpr std::uint64_t most_elements_in_memory = 10'000'000'000;
/// Bytes and elements that are only reckoned with.
inline constexpr std::uint64_t most_reckoned = std::uint64_t{1} << 62;

/// Counts from `least` to `most`, both of which the help then tells.
inline CLI::Range from_to(std::uint64_t least, std::uint64_t most) { return {least, most}; }

/// Makes every option of the subcommands refuse values that no option of its type takes.
void refuse_odd_values(CLI::App& app);

/// Throws Failure if a word of the command line is an option with nothing behind its sign, as --column=; the parser
/// would take the next word.
void refuse_empty_options(std::span<char* const> arguments);

/// Checks every word of an option as soon as the line is read; `check` throws Failure. Faults are told in the order in
/// which options are declared, and before options that are missing: words without an option's name are declared first.
void check_words(CLI::Option& option, std::function<void(const std::string& word)> check);

/// What is wrong with the words that the subcommand has no use for: the first unknown option, with the nearest name,
/// else the first word that is one too many. `arguments` are those of the command. Nothing if all are known.
std::optional<Failure> unknown_word(const CLI::App& subcommand, std::span<char* const> arguments);

/// Which benchmarks, say, use an option.
struct OptionUse {
  std::string_view option;
  std::vector<std::string_view> users;
};

/// Throws Failure if an option was given that `user` of the subcommand has no use for. Options outside the table serve
/// all.
void refuse_unused(const CLI::App& subcommand, std::string_view user, std::span<const OptionUse> uses);

}  // namespace steadfold::command
