#include "output.hpp"

#include <unistd.h>

#include <cerrno>
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
void write_to(const fs::path& place, const std::string& text, const std::string& path) {
  errno = 0;
  std::ofstream file(place, std::ios::binary);
  if (file) {
    file.write(text.data(), static_cast<std::streamsize>(text.size()));
    file.close();
  }
  if (!file) throw unwritable(path, errno == 0 ? "it cannot be opened" : std::strerror(errno));
}

/// Whether the path is there and no file that could be replaced, as pipes and devices are.
bool is_special(const fs::path& path) {
  std::error_code ignored;
  const fs::file_status status = fs::status(path, ignored);
  return fs::exists(status) && !fs::is_regular_file(status);
}

/// Writes beside the file and then puts that in its place, so that no reader ever sees a part.
void replace(const std::string& path, const std::string& text) {
  std::error_code failed;
  fs::path target = path;
  if (fs::is_symlink(target, failed)) target = fs::weakly_canonical(target, failed);
  fs::path beside = target;
  beside += ".part" + std::to_string(getpid());
  try {
    write_to(beside, text, path);
    fs::rename(beside, target, failed);
    if (failed) throw unwritable(path, failed.message());
  } catch (const Failure&) {
    fs::remove(beside, failed);
    throw;
  }
}

}  // namespace

Result delivered(const std::string& document, const std::string& path) {
  if (path.empty()) return {document};
  if (is_special(path)) {
    write_to(path, document, path);
  } else {
    replace(path, document);
  }
  return {};
}

}  // namespace steadfold::command
