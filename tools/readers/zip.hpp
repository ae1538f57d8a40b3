// The members of a zip archive, stored or compressed by deflate. Source: PKWARE's APPNOTE 6.3, with its 64-bit fields.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "file.hpp"

namespace steadfold::readers {

/// A member, as the directory at the end of the archive describes it.
struct ZipMember {
  std::string name;
  unsigned flags = 0, method = 0;
  std::uint32_t crc = 0;
  std::uint64_t packed_bytes = 0, bytes = 0;
  std::uint64_t place = 0;  // where its local header begins

  bool is_deflated() const noexcept { return method == 8; }
};

/// Returns all members, in the order of the directory. Throws Error if the file is no zip archive.
std::vector<ZipMember> zip_members(const File& archive);

/// Returns the content of a member after its size and CRC-32 were checked. A stored member stays in the archive; a
/// compressed one takes at most `most` bytes of memory.
std::unique_ptr<File> zip_content(std::unique_ptr<File> archive, const ZipMember& member, std::uint64_t most);

}  // namespace steadfold::readers
