// Reads numbers from files (npy, binpsllh, psllh, raw, csv and tsv) so that every rank reads only its part.
// The element count of a binary format is known at once. Text takes two passes: every rank counts the elements that
// begin in its part of the file, the caller exchanges the counts, then every rank finds its elements. The reader does
// not use MPI. Source: NumPy's NEP 1 (npy), the command's own rules (the others).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace steadfold::readers {

/// An error of a file or of its options: "problem (why), suggestion".
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

enum class Format { automatic, npy, binpsllh, psllh, raw, csv, tsv };
enum class Type { f64, f32 };

/// The format or type of that name. Throws Error if there is none.
Format format_named(std::string_view name);
Type type_named(std::string_view name);
std::string_view name_of(Format format) noexcept;
std::string_view name_of(Type type) noexcept;

struct Options {
  Format format = Format::automatic;     // by extension and content
  std::optional<Type> type = {};         // default: that of the file, or f64 if the file names none
  std::string column = {};               // tables: name, or digits for a number from 0; may be empty for one column
  std::string column_name = {};          // tables: a name of any letters
  std::optional<bool> header = {};       // tables: whether line 1 is names; default: unless its cell is a number
  bool forced = false;                   // raw: read also files that look like another format
  std::size_t block_bytes = 256 * 1024;  // bytes read at once, for text and for converted elements
};

/// An open file. Errors are thrown as Error. One thread at a time.
class Source {
 public:
  virtual ~Source() = default;

  virtual Format format() const noexcept = 0;
  Type type() const noexcept { return type_; }
  /// Whether line 1 is a header. Not to be called for formats without columns.
  virtual std::optional<bool> has_header() const noexcept { return std::nullopt; }

  /// Pass 1: the number of elements that begin in part `part` of `parts`. Scans this part of a text file. For binary
  /// formats, computes the number.
  virtual std::uint64_t count(std::uint64_t part, std::uint64_t parts) const = 0;

  /// Takes the results of count() for parts 0, 1, ... Throws Error if their sum differs from the total that the file
  /// announces.
  void set_counts(std::span<const std::uint64_t> counts);

  /// Known after set_counts().
  std::uint64_t element_count() const noexcept { return first_.back(); }

  /// Pass 2: reads the elements begin, begin + 1, ... of the whole file. Call only the overload for type().
  void read(std::uint64_t begin, std::span<double> elements) const;
  void read(std::uint64_t begin, std::span<float> elements) const;

 protected:
  explicit Source(Type type) : type_(type) {}

  virtual void check_total(std::uint64_t total) const = 0;
  virtual void read_f64(std::uint64_t begin, std::span<double> elements) const = 0;
  virtual void read_f32(std::uint64_t begin, std::span<float> elements) const = 0;

  /// The first element of every part, and the element count.
  std::span<const std::uint64_t> first() const noexcept { return first_; }

 private:
  void check_read(std::uint64_t begin, std::uint64_t count, Type type) const;

  Type type_;
  std::vector<std::uint64_t> first_ = {0};
};

/// Opens a regular file and reads its header.
std::unique_ptr<Source> open(const std::string& path, const Options& options = {});

}  // namespace steadfold::readers
