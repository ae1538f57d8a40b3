// Reads NumPy's npz: a zip archive of npy files, as numpy.savez and numpy.savez_compressed write it.
#include <algorithm>
#include <string>
#include <utility>

#include "choice.hpp"
#include "formats.hpp"
#include "unpack.hpp"
#include "zip.hpp"

namespace steadfold::readers {
namespace {

constexpr std::string_view npy_ending = ".npy";

}  // namespace

/// Whether the first member of a zip archive is an npy file.
bool looks_like_npz(const File& file) {
  constexpr std::size_t header_bytes = 30, name_length = 26;
  constexpr std::uint64_t most = header_bytes + 1024;
  const std::string beginning = file.read(0, std::min(file.size(), most));
  if (!beginning.starts_with("PK\x03\x04") || beginning.size() < header_bytes) return false;
  const std::size_t length = static_cast<unsigned char>(beginning[name_length]) +
                             std::size_t{256} * static_cast<unsigned char>(beginning[name_length + 1]);
  return std::string_view(beginning).substr(header_bytes, length).ends_with(npy_ending);
}

std::unique_ptr<Source> open_npz(std::unique_ptr<File> file, const Options& options) {
  std::vector<ZipMember> members = zip_members(*file);
  std::erase_if(members, [](const ZipMember& member) { return !member.name.ends_with(npy_ending); });
  if (members.empty()) throw file->fault("the archive has no member that is npy", "save arrays with numpy.savez");
  std::vector<std::string> names;
  names.reserve(members.size());
  for (const ZipMember& member : members)
    names.push_back(member.name.substr(0, member.name.size() - npy_ending.size()));
  const std::size_t chosen = Choosable(*file, "member", names).chosen(options);
  const ZipMember& member = members[chosen];
  Found found{.member = names[chosen]};
  if (member.is_deflated()) found = {"deflate", member.bytes, names[chosen]};
  auto source = open_npy(zip_content(std::move(file), member, most_unpacked(options)), options);
  source->set_found(std::move(found));
  return source;
}

}  // namespace steadfold::readers
