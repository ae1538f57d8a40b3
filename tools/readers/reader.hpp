// Reads numbers from files (npy, npz, binpsllh, psllh, sitelh, raw, csv, tsv and txt) so that every rank reads only its
// part. Every rank unpacks a compressed file completely.
// The element count of a binary format is known at once. Text takes two passes: every rank counts the elements that
// begin in its part of the file, the caller exchanges the counts, then every rank finds its elements. The reader does
// not use MPI. Source: NumPy's NEP 1 (npy), the command's own rules (the others).
#pragma once

#include <bit>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace steadfold::readers {

/// An error of a file or of its options: "problem (why), suggestion".
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

enum class Format { automatic, npy, npz, binpsllh, psllh, sitelh, raw, csv, tsv, txt };
/// Whether the format is a table: lines of fields.
constexpr bool is_table(Format format) noexcept { return format >= Format::csv; }
enum class Type { f64, f32 };

/// Returns the format or type of this name. Throws Error if there is none.
Format format_named(std::string_view name);
Type type_named(std::string_view name);
/// Returns the character that --separator names. Throws Error if it cannot be between fields.
char separator_named(std::string_view name);
/// Returns the order named "little" or "big". Throws Error for other names.
std::endian byte_order_named(std::string_view name);
/// Returns '.' for "point" and ',' for "comma". Throws Error for other names.
char decimal_mark_named(std::string_view name);
/// Returns the texts between the marks of a list.
std::vector<std::string> texts_between(std::string_view list, char mark);
/// Returns the texts between the commas of a list, without blanks around them. If commas are decimal marks, the texts
/// are between semicolons.
std::vector<std::string> missing_texts(std::string_view list, char decimal_mark);
std::string_view name_of(Format format) noexcept;
std::string_view name_of(Type type) noexcept;

struct Options {
  // Format of the file; automatic: the format follows from the extension and the content.
  Format format = Format::automatic;
  // Type of the elements; default: the type that the file names, or f64 if it names none.
  std::optional<Type> type = {};
  // Name of the column of a table, of the tree of sitelh, or of the member of npz, or its number from 0 in digits; may
  // be empty if there is one.
  std::string column = {};
  std::string column_name = {};  // the name, even if it consists of digits
  // For tables: whether line 1 has the names of the columns; default: yes, unless its cell in the chosen column is a
  // number.
  std::optional<bool> header = {};
  // For tables: the character between fields; a blank stands for runs of blanks and tabs. Default: that of the format.
  std::optional<char> separator = {};
  std::optional<char> decimal_mark = {};  // for tables: '.' or ','; default: '.'
  // For tables: the text with which a comment begins. Lines that begin with it are not rows. If fields are between
  // blanks, a comment may also follow a row. Empty: # for txt, and no comments for csv and tsv.
  std::string comment = {};
  // For tables: the fields that stand for a missing number. Rows with one in the chosen column are left out.
  std::vector<std::string> missing = {};
  std::optional<std::endian> byte_order = {};  // for raw; default: little
  bool has_fortran_records = false;            // for raw: whether records have their lengths around their data
  bool forced = false;                         // for raw: whether to read also files that look like another format
  std::size_t block_bytes = 256 * 1024;        // bytes that are read at once, for text and for converted elements
  // Most bytes of memory for what was compressed; 0: half of the machine's memory.
  std::uint64_t most_unpacked = 0;
};

/// How a table was read, by the options and by what was found in the file.
struct TableReading {
  bool has_header = false;  // whether the first line has the names of the columns
  std::string separator;    // comma, semicolon, tab, blanks, or the character itself
  char decimal_mark = '.';
  std::string comment;  // empty: the table has no comments
};

/// Where in the file the elements were found, if it has more than they.
struct Found {
  std::string compression = {};      // gzip or deflate; empty: the file is not compressed
  std::uint64_t unpacked_bytes = 0;  // size of what was compressed
  std::string member = {};           // name of the member of npz
  std::string tree = {};             // name of the tree of sitelh
};

/// An open file. Its functions throw Error. Use the object from one thread at a time.
class Source {
 public:
  virtual ~Source() = default;

  virtual Format format() const noexcept = 0;
  Type type() const noexcept { return type_; }
  /// Returns how the file was read if it is a table.
  virtual std::optional<TableReading> table() const { return std::nullopt; }

  const Found& found() const noexcept { return found_; }
  void set_found(Found found) noexcept { found_ = std::move(found); }

  /// Pass 1: returns the number of elements that begin in part `part` of `parts`. Scans this part of a text file. For
  /// binary formats, computes the number.
  virtual std::uint64_t count(std::uint64_t part, std::uint64_t parts) const = 0;

  /// Returns the number of rows that the last call of count() left out because their number is missing.
  virtual std::uint64_t missing_count() const noexcept { return 0; }

  /// Takes the results of count() for parts 0, 1, ... Throws Error if their sum differs from the number of elements
  /// that the file announces.
  void set_counts(std::span<const std::uint64_t> counts);

  /// Returns the number of elements, which is known after set_counts().
  std::uint64_t element_count() const noexcept { return first_.back(); }

  /// Pass 2: reads the elements begin, begin + 1, ... of the whole file. Call only the overload for the type that
  /// type() returns.
  void read(std::uint64_t begin, std::span<double> elements) const;
  void read(std::uint64_t begin, std::span<float> elements) const;

 protected:
  explicit Source(Type type) : type_(type) {}

  virtual void check_total(std::uint64_t total) const = 0;
  virtual void read_f64(std::uint64_t begin, std::span<double> elements) const = 0;
  virtual void read_f32(std::uint64_t begin, std::span<float> elements) const = 0;

  /// Returns the first element of every part, and the element count.
  std::span<const std::uint64_t> first() const noexcept { return first_; }

 private:
  void check_read(std::uint64_t begin, std::uint64_t count, Type type) const;

  Type type_;
  Found found_;
  std::vector<std::uint64_t> first_ = {0};
};

/// Opens a regular file and reads its header.
std::unique_ptr<Source> open(const std::string& path, const Options& options = {});

}  // namespace steadfold::readers
