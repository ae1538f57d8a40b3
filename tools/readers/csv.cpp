// Reads one column of a table: perhaps a header line, then one row per line. Fields are between commas or tabs, and may
// be quoted with double quotes. Source: RFC 4180, without line ends in quoted fields. So a reader can find the next row
// from any place in the file.
#include <algorithm>
#include <charconv>
#include <string>
#include <utility>

#include "formats.hpp"
#include "number.hpp"
#include "text_source.hpp"

namespace steadfold::readers {
namespace {

/// The separator of fields. A tab is a blank only if it is not the separator.
struct Marks {
  char between;
  std::string_view blanks;

  bool are_blank(std::string_view line) const noexcept {
    return trimmed(line).empty() && line.find(between) == std::string_view::npos;
  }
};
constexpr Marks marks_of(Format format) noexcept {
  return format == Format::tsv ? Marks{'\t', " "} : Marks{',', " \t"};
}

enum class FieldFault { none, open_quote, text_behind_quote };

/// Removes the next field from `rest` and returns it. `more` says whether another field follows. The quotes around a
/// quoted field are removed. Doubled quotes inside stay doubled, because no number has quotes.
FieldFault take_field(const Marks& marks, std::string_view& rest, std::string_view& field, bool& more) {
  const std::size_t begin = std::min(rest.find_first_not_of(marks.blanks), rest.size());
  std::size_t end = begin;
  if (rest.substr(begin).starts_with('"')) {
    for (end = begin + 1;; end += 2) {
      end = rest.find('"', end);
      if (end == std::string_view::npos) return FieldFault::open_quote;
      if (!rest.substr(end + 1).starts_with('"')) break;
    }
    field = rest.substr(begin + 1, end - begin - 1);
    end = std::min(rest.find_first_not_of(marks.blanks, end + 1), rest.size());
    if (end < rest.size() && rest[end] != marks.between) return FieldFault::text_behind_quote;
  } else {
    end = std::min(rest.find(marks.between, begin), rest.size());
    field = trimmed(rest.substr(begin, end - begin));
  }
  more = end < rest.size();
  rest.remove_prefix(more ? end + 1 : end);
  return FieldFault::none;
}

Error quote_fault(const File& file, FieldFault fault, std::uint64_t offset) {
  const std::string line = "line " + std::to_string(file.line_of(offset)) + ": ";
  if (fault == FieldFault::open_quote)
    return file.fault(line + "a quoted field does not end on the same line",
                      "close the quotes, or remove line ends from fields");
  return file.fault(line + "text follows a closing quote", "quote whole fields only");
}

/// The columns of a file: their number, the column to read, and whether the first line names them.
struct Columns {
  std::size_t count;
  std::size_t chosen;
  bool are_named;
};

class CsvSource final : public TextSource {
 public:
  CsvSource(std::unique_ptr<File> file, Region region, const Options& options, Format format, const Columns& columns)
      : TextSource(std::move(file), region, Records::lines, options), format_(format), columns_(columns) {}

  Format format() const noexcept override { return format_; }
  std::optional<bool> has_header() const noexcept override { return columns_.are_named; }

 private:
  void check_total(std::uint64_t) const override {}

  std::string_view field_of(std::string_view record, std::uint64_t offset) const override {
    std::string_view chosen;
    std::string_view rest = record;
    std::size_t found = 0;
    for (bool more = true; more; ++found) {
      std::string_view field;
      const FieldFault fault = take_field(marks_of(format_), rest, field, more);
      if (fault != FieldFault::none) throw quote_fault(file(), fault, offset);
      if (found == columns_.chosen) chosen = field;
    }
    if (found != columns_.count || marks_of(format_).are_blank(record)) throw ragged(record, found, offset);
    if (trimmed(chosen).empty())
      throw file().fault("line " + std::to_string(file().line_of(offset)) + ": column " +
                             std::to_string(columns_.chosen) + " is empty",
                         "write a number or nan into the field");
    return chosen;
  }

  Error ragged(std::string_view record, std::size_t found, std::uint64_t offset) const {
    const std::string line = "line " + std::to_string(file().line_of(offset));
    if (marks_of(format_).are_blank(record)) return file().fault(line + " is blank", "remove this line");
    return file().fault(line + " has " + std::to_string(found) + (found == 1 ? " field" : " fields") +
                            (columns_.are_named ? ", the header " : ", line 1 ") + std::to_string(columns_.count),
                        "give all rows the same number of fields");
  }

  Format format_;
  Columns columns_;
};

/// Throws if line 1 cannot be the first line of a table.
void check_text(const File& file, std::string_view line) {
  if (line.find('\0') != std::string_view::npos)
    throw file.fault("line 1 contains zero bytes, as text in UTF-16 does", "save the file as UTF-8, or check --format");
  if (line.find('\r') != std::string_view::npos)
    throw file.fault("line 1 has carriage returns without line feeds", "convert the line ends to line feeds");
}

/// Returns the fields of line 1, which may be the names of the columns. Doubled quotes inside a name become single
/// quotes.
std::vector<std::string> first_fields(const File& file, const Marks& marks, std::string_view line) {
  std::vector<std::string> names;
  for (bool more = true; more;) {
    std::string_view field;
    const FieldFault fault = take_field(marks, line, field, more);
    if (fault != FieldFault::none) throw quote_fault(file, fault, 0);
    std::string name(field);
    for (std::size_t i = name.find("\"\""); i != std::string::npos; i = name.find("\"\"", i + 1)) name.erase(i, 1);
    names.push_back(std::move(name));
  }
  return names;
}

constexpr int looked_at = 8;  // number of rows below line 1 that are examined

std::size_t semicolons_in(std::string_view line) {
  std::size_t count = 0;
  bool is_quoted = false;
  for (const char c : line) {
    if (c == '"') is_quoted = !is_quoted;
    count += c == ';' && !is_quoted ? 1 : 0;
  }
  return count;
}

/// Whether all of the first rows have the same number of semicolons. If so, commas are probably decimal commas, and
/// splitting at commas would cut numbers.
bool have_semicolons(Walk walk) {
  if (!walk.next()) return false;
  const std::size_t semicolons = semicolons_in(walk.record());
  for (int row = 0; semicolons > 0 && row < looked_at && walk.next(); ++row)
    if (semicolons_in(walk.record()) != semicolons) return false;
  return semicolons > 0;
}

enum class Cell : unsigned char { number, empty, resembling, name };

Cell cell_of(std::string_view text) {
  if (trimmed(text).empty()) return Cell::empty;
  double ignored = 0;
  if (parse_number(text, ignored) == NumberFault::none) return Cell::number;
  return resembles_number(text) ? Cell::resembling : Cell::name;
}

bool are_digits(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char each) { return each >= '0' && each <= '9'; });
}

/// The properties of a column in the first rows below line 1.
struct Below {
  bool has_numbers = false, has_names = false, has_any = false;
  // Whether some numbers are whole, or have decimal points; not counting inf and nan.
  bool has_whole = false, has_points = false;
  bool is_of_numbers() const noexcept { return has_numbers && !has_names; }

  void take(std::string_view field) {
    const Cell cell = cell_of(field);
    has_any |= cell != Cell::empty;
    has_numbers |= cell == Cell::number;
    has_names |= cell == Cell::name;
    if (cell != Cell::number) return;
    field = trimmed(field);
    has_whole |= are_digits(field.substr(field.find_first_not_of("+-")));
    has_points |= field.find('.') != std::string_view::npos;
  }
};

/// Line 1 of a table, and the properties of some rows below it.
struct Beginning {
  std::vector<std::string> first;
  std::vector<Below> below;   // properties of the rows below line 1, by column
  std::uint64_t second_line;  // offset at which line 2 begins

  Beginning(const File& file, const Marks& marks, const Region& all, Walk walk) : second_line(all.end) {
    if (!walk.next() || marks.are_blank(walk.record())) throw file.fault("the first line is blank", "remove this line");
    first = first_fields(file, marks, walk.record());
    below.resize(first.size());
    for (int row = 0; row < looked_at && walk.next(); ++row) {
      if (row == 0) second_line = walk.offset();
      take_row(marks, walk.record());
    }
  }

  /// Records the fields of a row up to the first error. The error is reported later, when the row is read.
  void take_row(const Marks& marks, std::string_view rest) {
    bool more = true;
    for (std::size_t column = 0; more && column < below.size(); ++column) {
      std::string_view field;
      if (take_field(marks, rest, field, more) != FieldFault::none) return;
      below[column].take(field);
    }
  }
};

std::string listed(const std::vector<std::string>& names) {
  constexpr std::size_t most = 12;
  std::string result;
  for (std::size_t i = 0; i < std::min(names.size(), most); ++i) result += (i == 0 ? "" : ", ") + shown(names[i]);
  return names.size() > most ? result + ", ..." : result;
}

std::string known(const std::vector<std::string>& names) {
  return "the " + std::to_string(names.size()) + (names.size() == 1 ? " column is " : " columns are ") + listed(names);
}

std::size_t named(const File& file, const std::vector<std::string>& names, const std::string& column) {
  const auto found = std::find(names.begin(), names.end(), column);
  if (found == names.end())
    throw file.fault("there is no column " + shown(column) + ": " + known(names),
                     "choose one of these columns, or give a column's number, counted from 0");
  if (std::find(found + 1, names.end(), column) != names.end())
    throw file.fault("several columns are called " + shown(column), "choose the column by its number, counted from 0");
  return static_cast<std::size_t>(found - names.begin());
}

struct Choice {
  std::size_t column = 0;
  bool has_header = true;
};

/// Whether the fields of line 1 are 0, 1, 2 and so on, as programs number columns that have no names.
bool are_column_numbers(const std::vector<std::string>& first) {
  for (std::size_t i = 0; i < first.size(); ++i)
    if (trimmed(first[i]) != std::to_string(i)) return false;
  return first.size() > 1;
}

/// Whether line 1 has only digits in this column, such as a year, and the numbers below have decimal points.
bool are_whole_above_points(const Beginning& beginning, std::size_t column) {
  const Below& below = beginning.below[column];
  return below.has_points && !below.has_whole &&
         std::ranges::all_of(beginning.first, [](const std::string& cell) { return are_digits(trimmed(cell)); });
}

/// Says why line 1 may be a header although its cell in the chosen column is not a name; empty if there is no reason.
std::string doubt_about(const Beginning& beginning, std::size_t column) {
  bool has_empty = false, has_names = false;
  for (std::size_t i = 0; i < beginning.first.size(); ++i) {
    const Cell cell = cell_of(beginning.first[i]);
    has_empty |= cell == Cell::empty && (beginning.below[i].has_any || i == column);
    has_names |= cell == Cell::name;
  }
  if (has_empty) return "the line has an empty cell next to its numbers";
  if (are_column_numbers(beginning.first)) return "the line numbers the columns";
  if (has_names && are_digits(beginning.first[column]))
    return "the line has words and the digits " + beginning.first[column];
  return are_whole_above_points(beginning, column) ? "its numbers have no decimal points, but the numbers below have"
                                                   : "";
}

/// Whether line 1 has the names of the columns: some column has a word above numbers, and the chosen column does not
/// have a number in line 1.
bool has_header(const File& file, const Beginning& beginning, std::size_t column) {
  const std::string& text = beginning.first[column];
  bool is_names = false;
  for (std::size_t i = 0; i < beginning.first.size(); ++i)
    is_names |= cell_of(beginning.first[i]) == Cell::name && (i == column || beginning.below[i].is_of_numbers());
  // A number with a sign or a decimal point is not a name.
  const bool is_no_name = cell_of(text) == Cell::number && !are_digits(text);
  if (is_names && !is_no_name) return true;
  double ignored = 0;
  const NumberFault fault = parse_number(text, ignored);
  if (fault != NumberFault::none && !trimmed(text).empty()) {
    const Complaint complaint = complaint_about(text, fault, Type::f64);
    throw file.fault("line 1: " + complaint.why, complaint.suggestion + ", or use --header yes if line 1 has names");
  }
  const std::string doubt =
      is_names ? "the line has words and the number " + std::string(trimmed(text)) : doubt_about(beginning, column);
  if (!doubt.empty())
    throw file.fault("line 1 may be names or numbers: " + doubt, "use --header yes or --header no to decide");
  return false;
}

Choice choose(const File& file, const Beginning& beginning, const Options& options) {
  const std::vector<std::string>& first = beginning.first;
  const bool is_number = are_digits(options.column);
  const std::string& name = is_number || options.column.empty() ? options.column_name : options.column;
  if (!options.column.empty() && !options.column_name.empty())
    throw file.fault("two columns are chosen, " + shown(options.column) + " and " + shown(options.column_name),
                     "leave out --column or --column-name");
  if (!name.empty()) {
    if (!options.header.value_or(true))
      throw file.fault("column " + shown(name) + " is given by name, but --header no says that the table has no names",
                       "leave out --header no, or choose the column by its number, counted from 0");
    return {named(file, first, name), true};
  }
  Choice choice;
  if (is_number) {
    const auto [end, failed] =
        std::from_chars(options.column.data(), options.column.data() + options.column.size(), choice.column);
    if (failed != std::errc() || choice.column >= first.size())
      throw file.fault("there is no column " + options.column + ": " + known(first),
                       std::ranges::find(first, options.column) == first.end()
                           ? "choose a column by its number, counted from 0, or by its name"
                           : "choose a column by its number, counted from 0, or use --column-name " + options.column);
  } else if (first.size() > 1) {
    throw file.fault("no column is chosen: " + known(first), "choose a column with --column");
  }
  choice.has_header = options.header ? *options.header : has_header(file, beginning, choice.column);
  return choice;
}

}  // namespace

std::unique_ptr<Source> open_table(std::unique_ptr<File> file, Format format, const Options& options) {
  const Marks marks = marks_of(format);
  const Region all = without_trailing_blanks(*file, {behind_byte_order_mark(*file), file->size()}, marks.between);
  const Walk walk(*file, all, Records::lines, all.begin, options.block_bytes);
  if (Walk first = walk; first.next()) check_text(*file, first.record());
  if (format == Format::csv && have_semicolons(walk))
    throw file->fault("its fields are separated by semicolons, as in files with decimal commas",
                      "separate fields by commas and write decimal points, or quote fields that contain semicolons");
  const Beginning beginning(*file, marks, all, walk);
  const Choice choice = choose(*file, beginning, options);
  const Region rows{choice.has_header ? beginning.second_line : all.begin, all.end};
  return std::make_unique<CsvSource>(std::move(file), rows, options, format,
                                     Columns{beginning.first.size(), choice.column, choice.has_header});
}

}  // namespace steadfold::readers
