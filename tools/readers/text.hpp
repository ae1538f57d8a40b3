// Reads text as a sequence of records (numbers between blanks, or lines). The records of any part can be found without
// reading the rest. A record belongs to the part of the file in which it begins, so all readers agree without
// communication.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "file.hpp"

namespace steadfold::readers {

enum class Records { tokens, lines };

/// A part of a file that has its records: the bytes begin, ..., end - 1.
struct Region {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

/// Walks over the records of a region, from the first record that begins at or after `start`.
class Walk {
 public:
  Walk(const File& file, Region region, Records records, std::uint64_t start, std::size_t block_bytes);

  /// Goes to the next record; returns false at the end of the region.
  bool next();

  /// Returns the record, without its line end; valid until the next step. `offset` returns its position in the file.
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
  std::size_t position_ = 0;  // position in window_ from which the next record is searched for
  std::string_view record_;
  std::uint64_t offset_ = 0;
};

/// Returns the number of records that begin in the bytes begin, ..., end - 1 of a region.
std::uint64_t count_records(const File& file, Region region, Records records, std::uint64_t begin, std::uint64_t end,
                            std::size_t block_bytes);

/// Returns the region without the blanks at its end. `kept` is a blank that is not removed.
Region without_trailing_blanks(const File& file, Region region, char kept);

/// Returns the offset after a byte order mark, or 0 if there is none.
std::uint64_t behind_byte_order_mark(const File& file);

}  // namespace steadfold::readers
