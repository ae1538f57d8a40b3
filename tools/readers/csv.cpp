// One column of a table: a header line, then one row per line, fields between commas, quoted ones in double quotes.
// Source: RFC 4180, without line ends in quoted fields, so that a row can be found from anywhere in the file.
#include <algorithm>
#include <charconv>
#include <string>
#include <utility>

#include "formats.hpp"
#include "number.hpp"
#include "text_source.hpp"

namespace steadfold::readers {
namespace {

enum class FieldFault { none, open_quote, text_behind_quote };

/// Takes the next field off `rest`. `more` says whether a comma followed. A quoted field comes without its quotes;
/// doubled quotes inside stay doubled, since no number has any.
FieldFault take_field(std::string_view& rest, std::string_view& field, bool& more) {
  const std::size_t begin = std::min(rest.find_first_not_of(" \t"), rest.size());
  std::size_t end = begin;
  if (rest.substr(begin).starts_with('"')) {
    for (end = begin + 1;; end += 2) {
      end = rest.find('"', end);
      if (end == std::string_view::npos) return FieldFault::open_quote;
      if (!rest.substr(end + 1).starts_with('"')) break;
    }
    field = rest.substr(begin + 1, end - begin - 1);
    end = std::min(rest.find_first_not_of(" \t", end + 1), rest.size());
    if (end < rest.size() && rest[end] != ',') return FieldFault::text_behind_quote;
  } else {
    end = std::min(rest.find(',', begin), rest.size());
    field = trimmed(rest.substr(begin, end - begin));
  }
  more = end < rest.size();
  rest.remove_prefix(more ? end + 1 : end);
  return FieldFault::none;
}

Error quote_fault(const File& file, FieldFault fault, std::uint64_t offset) {
  const std::string line = "line " + std::to_string(file.line_of(offset)) + ": ";
  if (fault == FieldFault::open_quote)
    return file.fault(line + "a quoted field does not end on its line", "close it, or take line ends out of fields");
  return file.fault(line + "text follows a closing quote", "quote whole fields only");
}

class CsvSource final : public TextSource {
 public:
  CsvSource(std::unique_ptr<File> file, Region region, const Options& options, std::size_t columns, std::size_t column)
      : TextSource(std::move(file), region, Records::lines, options), columns_(columns), column_(column) {}

  Format format() const noexcept override { return Format::csv; }

 private:
  void check_total(std::uint64_t) const override {}

  std::string_view field_of(std::string_view record, std::uint64_t offset) const override {
    std::string_view chosen;
    std::string_view rest = record;
    std::size_t found = 0;
    for (bool more = true; more; ++found) {
      std::string_view field;
      const FieldFault fault = take_field(rest, field, more);
      if (fault != FieldFault::none) throw quote_fault(file(), fault, offset);
      if (found == column_) chosen = field;
    }
    if (found != columns_ || trimmed(record).empty()) throw ragged(record, found, offset);
    if (trimmed(chosen).empty())
      throw file().fault(
          "line " + std::to_string(file().line_of(offset)) + ": column " + std::to_string(column_) + " is empty",
          "write a number or nan");
    return chosen;
  }

  Error ragged(std::string_view record, std::size_t found, std::uint64_t offset) const {
    const std::string line = "line " + std::to_string(file().line_of(offset));
    if (trimmed(record).empty()) return file().fault(line + " is blank", "take it out");
    return file().fault(line + " has " + std::to_string(found) + (found == 1 ? " field" : " fields") + ", the header " +
                            std::to_string(columns_),
                        "make all rows equally long");
  }

  std::size_t columns_;
  std::size_t column_;
};

/// The names of the columns; doubled quotes inside a name become one.
std::vector<std::string> header_names(const File& file, std::string_view line) {
  if (line.find('\r') != std::string_view::npos)
    throw file.fault("its lines end with a carriage return alone", "convert the line ends");
  std::vector<std::string> names;
  for (bool more = true; more;) {
    std::string_view field;
    const FieldFault fault = take_field(line, field, more);
    if (fault != FieldFault::none) throw quote_fault(file, fault, 0);
    std::string name(field);
    for (std::size_t i = name.find("\"\""); i != std::string::npos; i = name.find("\"\"", i + 1)) name.erase(i, 1);
    names.push_back(std::move(name));
  }
  return names;
}

std::string listed(const std::vector<std::string>& names) {
  constexpr std::size_t most = 12;
  std::string result;
  for (std::size_t i = 0; i < std::min(names.size(), most); ++i) result += (i == 0 ? "" : ", ") + shown(names[i]);
  return names.size() > most ? result + ", ..." : result;
}

/// Whether the names look like a row of elements. Names 0, 1, 2, ... do not: tables without names are given these.
bool are_numbers(const std::vector<std::string>& names) {
  bool numbered = true;
  for (std::size_t i = 0; i < names.size(); ++i) {
    double ignored = 0;
    if (parse_number(names[i], ignored) != NumberFault::none) return false;
    numbered = numbered && names[i] == std::to_string(i);
  }
  return !numbered;
}

std::size_t choose(const File& file, const std::vector<std::string>& names, const std::string& column) {
  const auto same = [&](const std::string& name) { return name == column; };
  const auto found = std::find_if(names.begin(), names.end(), same);
  if (found != names.end() && !column.empty()) {
    if (std::find_if(found + 1, names.end(), same) == names.end())
      return static_cast<std::size_t>(found - names.begin());
    throw file.fault("several columns are called " + shown(column), "choose one by its number, from 0");
  }
  if (are_numbers(names))
    throw file.fault("its first line has numbers only, " + listed(names), "begin it with a line of column names");
  const std::string known =
      "the " + std::to_string(names.size()) + (names.size() == 1 ? " column is " : " columns are ") + listed(names);
  if (column.empty()) {
    if (names.size() == 1) return 0;
    throw file.fault("no column is chosen: " + known, "choose one with --column");
  }
  std::size_t number = 0;
  const auto [end, failed] = std::from_chars(column.data(), column.data() + column.size(), number);
  if (failed == std::errc() && end == column.data() + column.size() && number < names.size()) return number;
  throw file.fault("there is no column " + shown(column) + ": " + known, "choose one of these, or by number from 0");
}

}  // namespace

std::unique_ptr<Source> open_csv(std::unique_ptr<File> file, const Options& options) {
  const Region all = without_trailing_blanks(*file, {behind_byte_order_mark(*file), file->size()});
  Walk walk(*file, all, Records::lines, all.begin, options.block_bytes);
  if (!walk.next() || trimmed(walk.record()).empty())
    throw file->fault("its first line is blank", "begin it with a line of column names");
  const std::vector<std::string> names = header_names(*file, walk.record());
  const std::size_t column = choose(*file, names, options.column);
  // Steps to the second line to find where the rows begin.
  const bool rows = walk.next();
  const Region rest{rows ? walk.offset() : all.end, all.end};
  return std::make_unique<CsvSource>(std::move(file), rest, options, names.size(), column);
}

}  // namespace steadfold::readers
