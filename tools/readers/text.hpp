// Text as a sequence of records (numbers between blanks, or lines), any part of which can be found without reading the
// rest. A record belongs to the part of the file in which it begins, so all readers agree without communication.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "file.hpp"

namespace steadfold::readers {

enum class Records { tokens, lines };

/// The bytes begin, ..., end - 1 of a file, which contain its records.
struct Region {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

/// Walks over the records of a region, from the first record that begins at or after `start`.
class Walk {
 public:
  Walk(const File& file, Region region, Records records, std::uint64_t start, std::size_t block_bytes);

  /// Steps to the next record; false at the end of the region.
  bool next();

  /// The record, without its line end; valid until the next step. `offset` is its place in the file.
  std::string_view record() const noexcept { return record_; }
  std::uint64_t offset() const noexcept { return offset_; }

 private:
  bool separates(char c) const noexcept;
  bool refill();
  void skip_separators();
  std::size_t find_end();

  const File& file_;
  Region region_;
  Records records_;
  std::size_t block_bytes_;
  std::string window_;  // bytes of the file from window_offset_ on
  std::uint64_t window_offset_;
  std::size_t position_ = 0;  // in window_: where the search for the next record begins
  std::string_view record_;
  std::uint64_t offset_ = 0;
};

/// How many records begin in the bytes begin, ..., end - 1 of a region.
std::uint64_t count_records(const File& file, Region region, Records records, std::uint64_t begin, std::uint64_t end,
                            std::size_t block_bytes);

/// The region without the blanks at its end. `kept` is a blank that is not removed.
Region without_trailing_blanks(const File& file, Region region, char kept);

/// The offset behind a byte order mark, or 0 if there is none.
std::uint64_t behind_byte_order_mark(const File& file);

}  // namespace steadfold::readers
