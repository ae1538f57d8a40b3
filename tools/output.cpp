#include "output.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace steadfold::command {
namespace {

namespace fs = std::filesystem;

Failure unwritable(const std::string& path, const std::string& why) {
  return Failure("cannot write " + path + " (" + why + "), check the place --output names");
}

/// Throws Failure, naming `path`, if the text cannot be written to the file `place`.
void write_to(const fs::path& place, const std::string& text, const std::string& path, std::ios::openmode mode) {
  errno = 0;
  std::ofstream file(place, std::ios::binary | mode);
  if (file) {
    file.write(text.data(), static_cast<std::streamsize>(text.size()));
    file.close();
  }
  if (!file) throw unwritable(path, errno == 0 ? "it cannot be opened" : std::strerror(errno));
}

/// Below /dev and /proc are devices and what a process has open, as /dev/stdout; /dev/shm holds files like any other.
bool belongs_to_the_system(const fs::path& path) {
  std::error_code ignored;
  const std::string place = fs::absolute(path, ignored).lexically_normal().string();
  return (place.starts_with("/dev/") && !place.starts_with("/dev/shm/")) || place.starts_with("/proc/");
}

/// What a symbolic link stands for, there or not; a file of the system stays as it is named.
fs::path followed(fs::path path) {
  constexpr int most_links = 40;  // as in the kernel: links in a circle end here
  std::error_code failed;
  for (int i = 0; i < most_links && !belongs_to_the_system(path) && fs::is_symlink(path, failed); ++i)
    path = path.parent_path() / fs::read_symlink(path, failed);
  return path;
}

/// Whether nothing can be put in the path's place: it is of the system, a link in a circle, or there and no file, as
/// pipes are.
bool is_special(const fs::path& path) {
  std::error_code ignored;
  const fs::file_status status = fs::status(path, ignored);
  return belongs_to_the_system(path) || fs::is_symlink(path, ignored) ||
         (fs::exists(status) && !fs::is_regular_file(status));
}

/// Those of the file, if it is there, else those of a new one.
fs::perms permissions_for(const fs::path& target) {
  std::error_code ignored;
  const fs::file_status status = fs::status(target, ignored);
  if (fs::exists(status)) return status.permissions();
  const mode_t masked = umask(0);
  umask(masked);
  return static_cast<fs::perms>(0666U & ~masked);
}

/// Writes beside the file and then puts that in its place, so that no reader ever sees a part. Until then only its
/// owner may read it.
void replace(const fs::path& target, const std::string& text, const std::string& path) {
  std::string beside = (target.parent_path() / ".partXXXXXX").string();
  const int opened = mkstemp(beside.data());
  if (opened < 0) throw unwritable(path, std::strerror(errno));
  close(opened);
  std::error_code failed;
  try {
    write_to(beside, text, path, std::ios::trunc);
    fs::permissions(beside, permissions_for(target), failed);
    if (!failed) fs::rename(beside, target, failed);
    if (failed) throw unwritable(path, failed.message());
  } catch (const Failure&) {
    fs::remove(beside, failed);
    throw;
  }
}

}  // namespace

Result delivered(const std::string& document, const std::string& path) {
  if (path.empty() || path == "/dev/stdout") return {document};
  const fs::path target = followed(path);
  if (is_special(target)) {
    write_to(target, document, path, std::ios::app);  // behind what the shell's >> keeps
  } else {
    replace(target, document, path);
  }
  return {};
}

}  // namespace steadfold::command
