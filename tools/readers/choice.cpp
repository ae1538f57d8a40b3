#include "choice.hpp"

#include <algorithm>
#include <charconv>

#include "number.hpp"

namespace steadfold::readers {
namespace {

std::string listed(const std::vector<std::string>& names) {
  constexpr std::size_t most = 12;
  std::string result;
  for (std::size_t i = 0; i < std::min(names.size(), most); ++i)
    result.append(i == 0 ? "" : ", ").append(shown(names[i]));
  return names.size() > most ? result + ", ..." : result;
}

}  // namespace

const std::string& chosen_name(const File& file, const Options& options) {
  if (!options.column.empty() && !options.column_name.empty())
    throw file.fault("two columns are chosen, " + shown(options.column) + " and " + shown(options.column_name),
                     "leave out --column or --column-name");
  return are_digits(options.column) || options.column.empty() ? options.column_name : options.column;
}

std::string Choosable::known() const {
  return "the " + std::to_string(names_.size()) + " " + std::string(noun_) + (names_.size() == 1 ? " is " : "s are ") +
         listed(names_);
}

std::size_t Choosable::named(const std::string& name, std::string_view hint) const {
  const std::string noun(noun_);
  const auto found = std::ranges::find(names_, name);
  if (found == names_.end())
    throw file_.fault(
        "there is no " + noun + " " + shown(name) + ": " + known(),
        "choose one of these " + noun + "s, or give a " + noun + "'s number, counted from 0" + std::string(hint));
  if (std::find(found + 1, names_.end(), name) != names_.end())
    throw file_.fault("several " + noun + "s are called " + shown(name),
                      "choose the " + noun + " by its number, counted from 0");
  return static_cast<std::size_t>(found - names_.begin());
}

std::size_t Choosable::numbered(const std::string& digits) const {
  std::size_t number = 0;
  const auto [end, failed] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (failed == std::errc() && number < names_.size()) return number;
  const std::string choose = "choose a " + std::string(noun_) + " by its number, counted from 0, or ";
  throw file_.fault(
      "there is no " + std::string(noun_) + " " + digits + ": " + known(),
      choose + (std::ranges::find(names_, digits) == names_.end() ? "by its name" : "use --column-name " + digits));
}

std::size_t Choosable::chosen(const Options& options, std::string_view hint) const {
  const std::string& name = chosen_name(file_, options);
  if (!name.empty()) return named(name, hint);
  if (!options.column.empty()) return numbered(options.column);
  if (names_.size() == 1) return 0;
  throw file_.fault("no " + std::string(noun_) + " is chosen: " + known(),
                    "choose a " + std::string(noun_) + " with --column");
}

}  // namespace steadfold::readers
