// Bytes that are unpacked by zlib: files compressed by gzip, and compressed members of zip archives. They are kept in
// memory, because compressed bytes cannot be read by offset. Sources: RFC 1951 (deflate), RFC 1952 (gzip).
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "file.hpp"

namespace steadfold::readers {

/// The compressed bytes of a file.
struct Packed {
  std::string path;  // for error texts about the unpacked bytes
  std::uint64_t begin = 0, end = 0;
  bool is_gzip = true;  // otherwise deflate, without header and check sum
};

/// Returns the most bytes that unpacked data may take.
std::uint64_t most_unpacked(const Options& options);

/// Unpacks a part of a file. Throws Error if its bytes are damaged, truncated or followed by other bytes, or if they
/// take more than `most` bytes.
std::unique_ptr<File> unpacked(const File& file, const Packed& packed, std::uint64_t most);

/// Returns the CRC-32 of a whole file.
std::uint32_t crc32_of(const File& file);

}  // namespace steadfold::readers
