#include "zip.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "unpack.hpp"

namespace steadfold::readers {
namespace {

constexpr std::string_view local_mark("PK\x03\x04", 4), entry_mark("PK\x01\x02", 4), end_mark("PK\x05\x06", 4),
    end64_mark("PK\x06\x06", 4), locator_mark("PK\x06\x07", 4);
constexpr std::size_t local_bytes = 30, entry_bytes = 46, end_bytes = 22, end64_bytes = 56, locator_bytes = 20;
constexpr std::uint64_t no_16 = 0xFFFF, no_32 = 0xFFFFFFFF;  // in place of numbers that are in 64-bit fields
constexpr std::string_view copied = "check that the whole file was copied";

/// A part of another file.
class PartFile final : public File {
 public:
  PartFile(std::unique_ptr<File> whole, std::string path, std::uint64_t begin, std::uint64_t bytes)
      : File(std::move(path), bytes), whole_(std::move(whole)), begin_(begin) {}

  using File::read;
  void read(std::uint64_t offset, void* target, std::uint64_t bytes) const override {
    if (bytes > size() || offset > size() - bytes)
      throw fault("its content ends at byte " + std::to_string(size()), copied);
    whole_->read(begin_ + offset, target, bytes);
  }

 private:
  std::unique_ptr<File> whole_;
  std::uint64_t begin_;
};

/// Returns the little-endian number at a place of the bytes, which are long enough.
std::uint64_t number_at(std::string_view bytes, std::size_t place, std::size_t width) {
  std::uint64_t number = 0;
  for (std::size_t i = width; i-- > 0;) number = number << 8 | static_cast<unsigned char>(bytes[place + i]);
  return number;
}

/// Returns `bytes` bytes of the archive that begin with the mark. Throws Error if there are none.
std::string marked(const File& archive, std::uint64_t place, std::size_t bytes, std::string_view mark) {
  const bool fits = archive.size() >= bytes && place <= archive.size() - bytes;
  std::string found = fits ? archive.read(place, bytes) : std::string();
  if (!found.starts_with(mark))
    throw archive.fault("the zip archive is damaged: a header is missing at byte " + std::to_string(place), copied);
  return found;
}

/// The directory of the members, at the end of the archive.
struct Directory {
  std::uint64_t members = 0, bytes = 0, place = 0;
};

Directory directory_of(const File& archive) {
  // The last record may be followed by a comment, whose length it has.
  const std::uint64_t most = std::min<std::uint64_t>(archive.size(), end_bytes + no_16);
  const std::uint64_t tail_place = archive.size() - most;
  const std::string tail = archive.read(tail_place, most);
  std::size_t at = tail.rfind(end_mark);
  while (at != std::string::npos &&
         (tail.size() - at < end_bytes || number_at(tail, at + 20, 2) != tail.size() - at - end_bytes))
    at = at == 0 ? std::string::npos : tail.rfind(end_mark, at - 1);
  if (at == std::string::npos)
    throw archive.fault("it is not a zip archive, or truncated: it has no directory at its end", copied);
  const Directory found{number_at(tail, at + 10, 2), number_at(tail, at + 12, 4), number_at(tail, at + 16, 4)};
  if (found.members != no_16 && found.bytes != no_32 && found.place != no_32) return found;
  const std::uint64_t end = tail_place + at;
  const std::string locator =
      marked(archive, end - std::min<std::uint64_t>(end, locator_bytes), locator_bytes, locator_mark);
  const std::string end64 = marked(archive, number_at(locator, 8, 8), end64_bytes, end64_mark);
  return {number_at(end64, 32, 8), number_at(end64, 40, 8), number_at(end64, 48, 8)};
}

/// Takes the 64-bit fields of a member from the additional fields of its entry, each for a number that has no place in
/// the entry itself. Returns false if one is missing.
bool take_64(ZipMember& member, std::string_view fields) {
  constexpr std::uint64_t id_64 = 1;
  const bool is_complete = member.bytes != no_32 && member.packed_bytes != no_32 && member.place != no_32;
  while (fields.size() >= 4) {
    const std::uint64_t id = number_at(fields, 0, 2);
    std::string_view field = fields.substr(4);
    field = field.substr(0, static_cast<std::size_t>(number_at(fields, 2, 2)));
    fields.remove_prefix(4 + field.size());
    if (id != id_64) continue;
    for (std::uint64_t* const number : {&member.bytes, &member.packed_bytes, &member.place}) {
      if (*number != no_32) continue;
      if (field.size() < 8) return false;
      *number = number_at(field, 0, 8);
      field.remove_prefix(8);
    }
    return true;
  }
  return is_complete;
}

/// Removes the first entry of the directory and returns it.
ZipMember take_entry(const File& archive, std::string_view& entries) {
  const auto damaged = [&] { return archive.fault("the directory of the zip archive is damaged", copied); };
  if (entries.size() < entry_bytes || !entries.starts_with(entry_mark)) throw damaged();
  ZipMember member{.name = {},
                   .flags = static_cast<unsigned>(number_at(entries, 8, 2)),
                   .method = static_cast<unsigned>(number_at(entries, 10, 2)),
                   .crc = static_cast<std::uint32_t>(number_at(entries, 16, 4)),
                   .packed_bytes = number_at(entries, 20, 4),
                   .bytes = number_at(entries, 24, 4),
                   .place = number_at(entries, 42, 4)};
  const auto name = static_cast<std::size_t>(number_at(entries, 28, 2));
  const auto fields = static_cast<std::size_t>(number_at(entries, 30, 2));
  const auto comment = static_cast<std::size_t>(number_at(entries, 32, 2));
  entries.remove_prefix(entry_bytes);
  if (entries.size() < name + fields + comment) throw damaged();
  member.name = entries.substr(0, name);
  if (!take_64(member, entries.substr(name, fields))) throw damaged();
  entries.remove_prefix(name + fields + comment);
  return member;
}

}  // namespace

std::vector<ZipMember> zip_members(const File& archive) {
  const Directory directory = directory_of(archive);
  constexpr std::uint64_t most = std::uint64_t{1} << 28;  // bytes; a few million members
  if (directory.bytes > archive.size() || directory.place > archive.size() - directory.bytes || directory.bytes > most)
    throw archive.fault(
        "the zip archive is damaged: its directory of " + std::to_string(directory.bytes) + " bytes does not fit",
        copied);
  const std::string bytes = archive.read(directory.place, directory.bytes);
  std::string_view rest = bytes;
  std::vector<ZipMember> members;
  members.reserve(static_cast<std::size_t>(std::min(directory.members, directory.bytes / entry_bytes)));
  for (std::uint64_t i = 0; i < directory.members; ++i) members.push_back(take_entry(archive, rest));
  return members;
}

std::unique_ptr<File> zip_content(std::unique_ptr<File> archive, const ZipMember& member, std::uint64_t most) {
  const std::string local = marked(*archive, member.place, local_bytes, local_mark);
  const std::uint64_t begin = member.place + local_bytes + number_at(local, 26, 2) + number_at(local, 28, 2);
  const std::string of_member = "member " + shown(member.name);
  if (member.flags % 2 != 0) throw archive->fault(of_member + " is encrypted", "save the array again with numpy.savez");
  if (member.method != 0 && !member.is_deflated())
    throw archive->fault(of_member + " is compressed by method " + std::to_string(member.method),
                         "save the array again with numpy.savez or numpy.savez_compressed");
  if (begin > archive->size() || member.packed_bytes > archive->size() - begin)
    throw archive->fault("truncated: " + of_member + " does not end in the file", copied);
  const std::string path = archive->path() + ", " + of_member;
  std::unique_ptr<File> content;
  if (member.is_deflated()) {
    const Packed packed{path, begin, begin + member.packed_bytes, false};
    content = unpacked(*archive, packed, most);
  } else {
    content = std::make_unique<PartFile>(std::move(archive), path, begin, member.packed_bytes);
  }
  if (content->size() != member.bytes)
    throw content->fault("damaged: " + std::to_string(member.bytes) + " bytes are announced, but " +
                             std::to_string(content->size()) + " were found",
                         copied);
  if (crc32_of(*content) != member.crc) throw content->fault("damaged: its CRC-32 differs", copied);
  return content;
}

}  // namespace steadfold::readers
