// A regular file that is read by offset, and the errors about files.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "reader.hpp"

namespace steadfold::readers {

/// A regular file, open for reading. Throws Error if it is missing, unreadable or not a regular file.
class File {
 public:
  explicit File(std::string path);
  virtual ~File();
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  const std::string& path() const noexcept { return path_; }
  std::uint64_t size() const noexcept { return size_; }

  /// Reads exactly `bytes` bytes. Throws Error if the file has fewer.
  virtual void read(std::uint64_t offset, void* target, std::uint64_t bytes) const;
  std::string read(std::uint64_t offset, std::uint64_t bytes) const;

  /// Returns the number of the line (from 1) that contains a byte. Reads the file up to this byte.
  std::uint64_t line_of(std::uint64_t offset) const;

  /// Makes an Error with the text "cannot read PATH (why), suggestion".
  [[nodiscard]] Error fault(std::string_view why, std::string_view suggestion) const;

 protected:
  /// For files whose bytes come from another file: the path for error texts, and the number of bytes.
  File(std::string path, std::uint64_t size) : path_(std::move(path)), size_(size) {}

 private:
  std::string path_;
  int descriptor_ = -1;
  std::uint64_t size_ = 0;
};

/// Writes text from a file for use in a message: quoted, on one line, shortened.
std::string shown(std::string_view text);

/// Returns the first index of part `part` if 0, ..., total - 1 are divided into `parts` parts, as equally as possible.
constexpr std::uint64_t part_begin(std::uint64_t total, std::uint64_t part, std::uint64_t parts) noexcept {
  const std::uint64_t surplus = total % parts;
  return total / parts * part + (part < surplus ? part : surplus);
}

}  // namespace steadfold::readers
