// Reads one column of a table: perhaps a header line, then one row per line. Fields are between commas, tabs, runs of
// blanks or other marks, and may be quoted with double quotes. Source: RFC 4180, without line ends in quoted fields. So
// a reader can find the next row from any place in the file.
#include <algorithm>
#include <cctype>
#include <string>
#include <utility>

#include "choice.hpp"
#include "formats.hpp"
#include "number.hpp"
#include "text_source.hpp"

namespace steadfold::readers {
namespace {

/// The marks of a table.
struct Marks {
  char between;             // between fields; ' ' stands for runs of blanks and tabs
  std::string_view blanks;  // the blanks around fields; a tab is a blank only if it is not the separator
  std::string comment;      // before comments; empty if there are none
  char decimal_mark;
  std::vector<std::string> missing;  // the fields that stand for a missing number

  Notation notation() const noexcept { return {decimal_mark, true, has_runs()}; }
  bool has_runs() const noexcept { return between == ' '; }
  bool are_blank(std::string_view line) const noexcept {
    return trimmed(line).empty() && (has_runs() || line.find(between) == std::string_view::npos);
  }
  /// Returns the line without its comment; nullopt if the line is no row.
  std::optional<std::string_view> row_of(std::string_view line) const {
    if (!comment.empty()) {
      if (trimmed(line).starts_with(comment)) return std::nullopt;
      if (has_runs()) line = line.substr(0, line.find(comment));
    }
    if (has_runs() && trimmed(line).empty()) return std::nullopt;
    return line;
  }
  bool is_missing(std::string_view field) const noexcept {
    return std::ranges::find(missing, trimmed(field)) != missing.end();
  }
  std::size_t end_of_field(std::string_view line, std::size_t begin) const noexcept {
    return std::min(has_runs() ? line.find_first_of(blanks, begin) : line.find(between, begin), line.size());
  }
  bool are_after(std::string_view line, std::size_t end) const noexcept {
    return end < line.size() && (between == line[end] || (has_runs() && line[end] == '\t'));
  }
};

Marks marks_of(Format format, const Options& options) {
  const char own = format == Format::txt ? ' ' : format == Format::tsv ? '\t' : ',';
  const char between = options.separator.value_or(own);
  const bool has_own_comment = options.comment.empty() && format == Format::txt && between != '#';
  return {.between = between,
          .blanks = between == '\t' ? " " : " \t",
          .comment = has_own_comment ? "#" : options.comment,
          .decimal_mark = options.decimal_mark.value_or('.'),
          .missing = options.missing};
}

std::string name_of_separator(char between) {
  switch (between) {
    case ',': return "comma";
    case ';': return "semicolon";
    case '\t': return "tab";
    case ' ': return "blanks";
    default: return {between};
  }
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
    ++end;
    if (!marks.has_runs()) end = std::min(rest.find_first_not_of(marks.blanks, end), rest.size());
    if (end < rest.size() && !marks.are_after(rest, end)) return FieldFault::text_behind_quote;
  } else {
    end = marks.end_of_field(rest, begin);
    field = trimmed(rest.substr(begin, end - begin));
  }
  if (marks.has_runs()) end = std::min(rest.find_first_not_of(marks.blanks, end), rest.size());
  more = end < rest.size();
  rest.remove_prefix(more && !marks.has_runs() ? end + 1 : end);
  return FieldFault::none;
}

Error quote_fault(const File& file, FieldFault fault, std::uint64_t offset) {
  const std::string line = "line " + std::to_string(file.line_of(offset)) + ": ";
  if (fault == FieldFault::open_quote)
    return file.fault(line + "a quoted field does not end on the same line",
                      "close the quotes, or remove line ends from fields");
  return file.fault(line + "text follows a closing quote", "quote whole fields only");
}

/// The columns of a file: their number, the column to read, whether the first line names them, and the number of this
/// line.
struct Columns {
  std::size_t count;
  std::size_t chosen;
  bool are_named;
  std::uint64_t first_line;
};

class CsvSource final : public TextSource {
 public:
  CsvSource(std::unique_ptr<File> file, Region region, const Options& options, Format format, Marks marks,
            const Columns& columns)
      : TextSource(std::move(file), region, Records::lines, options),
        format_(format),
        marks_(std::move(marks)),
        columns_(columns) {}

  Format format() const noexcept override { return format_; }
  std::optional<TableReading> table() const override {
    return TableReading{columns_.are_named, name_of_separator(marks_.between), marks_.decimal_mark, marks_.comment};
  }

 private:
  void check_total(std::uint64_t) const override {}

  Notation notation() const noexcept override { return marks_.notation(); }
  bool has_only_numbers() const noexcept override {
    return marks_.missing.empty() && marks_.comment.empty() && !marks_.has_runs();
  }

  Field field_of(std::string_view record, std::uint64_t offset) const override {
    const std::optional<std::string_view> row = marks_.row_of(record);
    if (!row) return {Content::nothing, {}};
    std::string_view chosen;
    std::string_view rest = *row;
    std::size_t found = 0;
    for (bool more = true; more; ++found) {
      std::string_view field;
      const FieldFault fault = take_field(marks_, rest, field, more);
      if (fault != FieldFault::none) throw quote_fault(file(), fault, offset);
      if (found == columns_.chosen) chosen = field;
    }
    if (found != columns_.count || marks_.are_blank(*row)) throw ragged(*row, found, offset);
    if (marks_.is_missing(chosen)) return {Content::missing, {}};
    if (trimmed(chosen).empty())
      throw file().fault(
          "line " + std::to_string(file().line_of(offset)) + ": column " + std::to_string(columns_.chosen) +
              " is empty",
          std::string("write a number or nan into the field, or leave out rows with empty fields by --missing ") +
              (marks_.decimal_mark == ',' ? "';'" : ","));
    return {Content::number, chosen};
  }

  Error ragged(std::string_view record, std::size_t found, std::uint64_t offset) const {
    const std::string line = "line " + std::to_string(file().line_of(offset));
    if (marks_.are_blank(record)) return file().fault(line + " is blank", "remove this line");
    return file().fault(
        line + " has " + std::to_string(found) + (found == 1 ? " field" : " fields") +
            (columns_.are_named ? ", the header " : ", line " + std::to_string(columns_.first_line) + " ") +
            std::to_string(columns_.count),
        "give all rows the same number of fields");
  }

  Format format_;
  Marks marks_;
  Columns columns_;
};

/// Walks over the rows of a table: over its lines without comments.
class RowWalk {
 public:
  RowWalk(const Walk& lines, const Marks& marks) : lines_(lines), marks_(marks) {}

  bool next() {
    while (lines_.next())
      if (const auto row = marks_.row_of(lines_.record())) {
        row_ = *row;
        return true;
      }
    return false;
  }
  std::string_view row() const noexcept { return row_; }
  std::uint64_t offset() const noexcept { return lines_.offset(); }

 private:
  Walk lines_;
  const Marks& marks_;
  std::string_view row_;
};

/// Throws if a line cannot be a line of a table. `line` names it.
void check_text(const File& file, const std::string& line, std::string_view text) {
  if (text.find('\0') != std::string_view::npos)
    throw file.fault(line + " contains zero bytes, as text in UTF-16 does",
                     "save the file as UTF-8, or check --format");
  if (text.find('\r') != std::string_view::npos)
    throw file.fault(line + " has carriage returns without line feeds", "convert the line ends to line feeds");
}

/// Throws if comments would cut numbers or fields.
void check_comment(const File& file, const Marks& marks) {
  if (marks.comment.empty()) return;
  const char first = marks.comment.front();
  const bool is_of_numbers = std::isdigit(static_cast<unsigned char>(first)) != 0 || is_blank(first) ||
                             std::string_view("+-.,\"").find(first) != std::string_view::npos;
  const bool is_of_words = marks.has_runs() && std::isalpha(static_cast<unsigned char>(first)) != 0;
  if (is_of_numbers || is_of_words || first == marks.between)
    throw file.fault("a comment cannot begin with " + shown(marks.comment) + ", with which a field may begin or end",
                     "choose another text with --comment");
}

/// Returns the fields of line 1, which may be the names of the columns. Doubled quotes inside a name become single
/// quotes.
std::vector<std::string> first_fields(const File& file, const Marks& marks, const RowWalk& walk) {
  std::vector<std::string> names;
  std::string_view line = walk.row();
  for (bool more = true; more;) {
    std::string_view field;
    const FieldFault fault = take_field(marks, line, field, more);
    if (fault != FieldFault::none) throw quote_fault(file, fault, walk.offset());
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
bool have_semicolons(RowWalk walk) {
  if (!walk.next()) return false;
  const std::size_t semicolons = semicolons_in(walk.row());
  for (int row = 0; semicolons > 0 && row < looked_at && walk.next(); ++row)
    if (semicolons_in(walk.row()) != semicolons) return false;
  return semicolons > 0;
}

enum class Cell : unsigned char { number, empty, resembling, name };

/// Marks of missing numbers count as other texts, because the first row may have names.
Cell cell_of(std::string_view text, const Marks& marks) {
  if (trimmed(text).empty()) return Cell::empty;
  double ignored = 0;
  if (parse_number(text, ignored, marks.decimal_mark) == NumberFault::none) return Cell::number;
  return resembles_number(text) ? Cell::resembling : Cell::name;
}

/// The properties of a column in the first rows below line 1.
struct Below {
  bool has_numbers = false, has_names = false, has_any = false;
  // Whether some numbers are whole, or have decimal points; not counting inf and nan.
  bool has_whole = false, has_points = false;
  bool is_of_numbers() const noexcept { return has_numbers && !has_names; }

  void take(std::string_view field, const Marks& marks) {
    if (marks.is_missing(field)) return;
    const Cell cell = cell_of(field, marks);
    has_any |= cell != Cell::empty;
    has_numbers |= cell == Cell::number;
    has_names |= cell == Cell::name;
    if (cell != Cell::number) return;
    field = trimmed(field);
    has_whole |= are_digits(field.substr(field.find_first_not_of("+-")));
    has_points |= field.find(marks.decimal_mark) != std::string_view::npos;
  }
};

/// The first row of a table, which may have the names of the columns, and the properties of some rows below it.
struct Beginning {
  const Marks& marks;
  std::string line;  // "line 1", or another number if comments come first
  std::uint64_t line_number = 1;
  std::vector<std::string> first;
  std::vector<Below> below;   // properties of the rows below the first row, by column
  std::uint64_t second_line;  // offset at which the second row begins

  Beginning(const File& file, const Marks& marks_of_table, const Region& all, RowWalk walk)
      : marks(marks_of_table), second_line(all.end) {
    if (!walk.next()) throw file.fault("it has no rows", "check the program that should have written the file");
    if (marks.are_blank(walk.row())) throw file.fault("the first line is blank", "remove this line");
    line_number = file.line_of(walk.offset());
    line = "line " + std::to_string(line_number);
    check_text(file, line, walk.row());
    first = first_fields(file, marks, walk);
    below.resize(first.size());
    for (int row = 0; row < looked_at && walk.next(); ++row) {
      if (row == 0) second_line = walk.offset();
      take_row(walk.row());
    }
  }

  /// Records the fields of a row up to the first error. The error is reported later, when the row is read.
  void take_row(std::string_view rest) {
    bool more = true;
    for (std::size_t column = 0; more && column < below.size(); ++column) {
      std::string_view field;
      if (take_field(marks, rest, field, more) != FieldFault::none) return;
      below[column].take(field, marks);
    }
  }
};

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
    const Cell cell = cell_of(beginning.first[i], beginning.marks);
    has_empty |= cell == Cell::empty && (beginning.below[i].has_any || i == column);
    // A mark of a missing number above words is a word, too.
    has_names |= cell == Cell::name || (cell == Cell::resembling && beginning.below[i].has_names);
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
    is_names |= cell_of(beginning.first[i], beginning.marks) == Cell::name &&
                (i == column || beginning.below[i].is_of_numbers());
  // A number with a sign or a decimal point is not a name.
  const Cell cell = cell_of(text, beginning.marks);
  const bool is_no_name = cell == Cell::number && !are_digits(text);
  if (is_names && !is_no_name) return true;
  double ignored = 0;
  const NumberFault fault = parse_number(text, ignored, beginning.marks.decimal_mark);
  if (fault != NumberFault::none && cell != Cell::empty && !beginning.marks.is_missing(text)) {
    const Complaint complaint = complaint_about(text, fault, Type::f64, beginning.marks.notation());
    throw file.fault(beginning.line + ": " + complaint.why,
                     complaint.suggestion + ", or use --header yes if " + beginning.line + " has names");
  }
  const std::string doubt =
      is_names ? "the line has words and the number " + std::string(trimmed(text)) : doubt_about(beginning, column);
  if (!doubt.empty())
    throw file.fault(beginning.line + " may be names or numbers: " + doubt,
                     "use --header yes or --header no to decide");
  return false;
}

Choice choose(const File& file, const Beginning& beginning, const Options& options) {
  const std::vector<std::string>& first = beginning.first;
  const std::string& name = chosen_name(file, options);
  if (!name.empty() && !options.header.value_or(true))
    throw file.fault("column " + shown(name) + " is given by name, but --header no says that the table has no names",
                     "leave out --header no, or choose the column by its number, counted from 0");
  const bool may_be_comment = first.front().starts_with('#');
  Choice choice{Choosable(file, "column", first)
                    .chosen(options, may_be_comment ? ", or use --comment '#' if line 1 is a comment" : "")};
  if (name.empty()) choice.has_header = options.header ? *options.header : has_header(file, beginning, choice.column);
  return choice;
}

}  // namespace

std::unique_ptr<Source> open_table(std::unique_ptr<File> file, Format format, const Options& options) {
  const Marks marks = marks_of(format, options);
  if (marks.between == marks.decimal_mark)
    throw file->fault("a comma cannot be both between fields and within numbers",
                      "give the mark between fields with --separator, or leave out --decimal comma");
  const Region all = without_trailing_blanks(*file, {behind_byte_order_mark(*file), file->size()},
                                             marks.has_runs() ? '\0' : marks.between);
  const Walk lines(*file, all, Records::lines, all.begin, options.block_bytes);
  if (Walk first = lines; first.next()) check_text(*file, "line 1", first.record());
  check_comment(*file, marks);
  const RowWalk rows(lines, marks);
  if (format == Format::csv && !options.separator && have_semicolons(rows))
    throw file->fault(
        "its fields are separated by semicolons, as in files with decimal commas",
        "use --separator semicolon, and --decimal comma if numbers have decimal commas; or use --separator "
        "comma if commas are between the fields");
  const Beginning beginning(*file, marks, all, rows);
  const Choice choice = choose(*file, beginning, options);
  const Region region{choice.has_header ? beginning.second_line : all.begin, all.end};
  return std::make_unique<CsvSource>(
      std::move(file), region, options, format, marks,
      Columns{beginning.first.size(), choice.column, choice.has_header, beginning.line_number});
}

}  // namespace steadfold::readers
