#include "output.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace steadfold::command {
namespace {

namespace fs = std::filesystem;

/// A file, with the option that names it.
struct Named {
  std::string option, path;

  Failure unwritable(const std::string& why) const {
    return Failure("cannot write " + path + " (" + why + "), check the place that " + option + " names");
  }
};

/// Throws Failure if the text cannot be written to the file `place`, which is written in place of the named file.
void write_to(const fs::path& place, const std::string& text, const Named& named, std::ios::openmode mode) {
  errno = 0;
  std::ofstream file(place, std::ios::binary | mode);
  if (file) {
    file.write(text.data(), static_cast<std::streamsize>(text.size()));
    file.close();
  }
  if (!file) throw named.unwritable(errno == 0 ? "it cannot be opened" : std::strerror(errno));
}

/// Whether the path is in /dev or /proc, which have devices and open files such as /dev/stdout. /dev/shm has regular
/// files.
bool belongs_to_the_system(const fs::path& path) {
  std::error_code ignored;
  const std::string place = fs::absolute(path, ignored).lexically_normal().string();
  return (place.starts_with("/dev/") && !place.starts_with("/dev/shm/")) || place.starts_with("/proc/");
}

/// Returns the target of a symbolic link, whether it exists or not. Returns paths in /dev and /proc unchanged.
fs::path followed(fs::path path) {
  constexpr int most_links = 40;  // the kernel's limit, which also ends a circle of links
  std::error_code failed;
  for (int i = 0; i < most_links && !belongs_to_the_system(path) && fs::is_symlink(path, failed); ++i)
    path = path.parent_path() / fs::read_symlink(path, failed);
  return path;
}

/// Whether the path cannot be replaced by a file: it is in /dev or /proc, or a link in a circle, or not a regular file
/// (a pipe, for example).
bool is_special(const fs::path& path) {
  std::error_code ignored;
  const fs::file_status status = fs::status(path, ignored);
  return belongs_to_the_system(path) || fs::is_symlink(path, ignored) ||
         (fs::exists(status) && !fs::is_regular_file(status));
}

/// Whether the path is a named pipe. Opening a named pipe waits for its reader, perhaps for ever. Pipes in /dev and
/// /proc have a reader.
bool is_pipe_of_a_name(const fs::path& path) {
  std::error_code ignored;
  return !belongs_to_the_system(path) && fs::is_fifo(path, ignored);
}

/// Returns the permissions of the file. If it does not exist, returns the permissions that a new file gets.
fs::perms permissions_for(const fs::path& target) {
  std::error_code ignored;
  const fs::file_status status = fs::status(target, ignored);
  if (fs::exists(status)) return status.permissions();
  const mode_t masked = umask(0);
  umask(masked);
  return static_cast<fs::perms>(0666U & ~masked);
}

/// Writes a temporary file in the same folder and renames it, so that no reader sees an incomplete file. Before the
/// renaming, only the owner may read the temporary file.
void replace(const fs::path& target, const std::string& text, const Named& named) {
  std::string beside = (target.parent_path() / ".partXXXXXX").string();
  const int opened = mkstemp(beside.data());
  if (opened < 0) throw named.unwritable(std::strerror(errno));
  close(opened);
  std::error_code failed;
  try {
    write_to(beside, text, named, std::ios::trunc);
    fs::permissions(beside, permissions_for(target), failed);
    if (!failed) fs::rename(beside, target, failed);
    if (failed) throw named.unwritable(failed.message());
  } catch (const Failure&) {
    fs::remove(beside, failed);
    throw;
  }
}

Failure unreadable(const std::string& path, const std::string& why, const std::string& suggestion) {
  return Failure("cannot read " + path + " (" + why + "), " + suggestion);
}

}  // namespace

void require_writable(const std::string& option, const std::string& path, const std::vector<std::string>& inputs) {
  const Named named{option, path};
  std::error_code failed;
  const fs::path target = followed(path);
  for (const std::string& input : inputs)
    if (fs::equivalent(target, input, failed))
      throw Failure("cannot write " + path + " (it is the input " + input + "), name another file with " + option);
  if (fs::is_directory(target, failed)) throw named.unwritable(std::strerror(EISDIR));
  if (is_pipe_of_a_name(target))
    throw named.unwritable("it is a pipe, and writing would wait until a program reads from the pipe");
  if (is_special(target)) return;
  const fs::path folder = target.has_parent_path() ? target.parent_path() : fs::path(".");
  if (access(folder.c_str(), W_OK | X_OK) != 0) throw named.unwritable(std::strerror(errno));
}

void write_whole(const std::string& option, const std::string& path, const std::string& text) {
  const Named named{option, path};
  const fs::path target = followed(path);
  if (is_special(target)) {
    write_to(target, text, named, std::ios::app);  // appends if the shell opened the file with >>
  } else {
    replace(target, text, named);
  }
}

Result delivered(const std::string& document, const std::string& path, const std::vector<std::string>& inputs) {
  if (path.empty() || path == "/dev/stdout") return {document};
  require_writable("--output", path, inputs);
  write_whole("--output", path, document);
  return {};
}

void require_readable(const std::string& path, const std::string& suggestion) {
  if (access(path.c_str(), R_OK) != 0) throw unreadable(path, std::strerror(errno), suggestion);
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) throw unreadable(path, "it is a directory", suggestion);
}

std::string contents_of(const std::string& path, const std::string& suggestion) {
  constexpr std::size_t most = std::size_t{64} << 20;
  require_readable(path, suggestion);
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file) throw unreadable(path, errno == 0 ? "it cannot be opened" : std::strerror(errno), suggestion);
  std::string text;
  std::array<char, 1 << 16> block;
  while (text.size() <= most && (file.read(block.data(), block.size()), file.gcount() > 0))
    text.append(block.data(), static_cast<std::size_t>(file.gcount()));
  if (file.bad()) throw unreadable(path, "reading fails", suggestion);
  if (text.size() > most) throw unreadable(path, "it has more than 64 MiB", suggestion);
  return text;
}

}  // namespace steadfold::command
