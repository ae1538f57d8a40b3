#include "file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace steadfold::readers {

File::File(std::string path) : path_(std::move(path)) {
  struct stat status {};
  // The kind of file is checked before the file is opened, because opening a pipe waits for its writer.
  if (::stat(path_.c_str(), &status) != 0)
    throw fault(std::strerror(errno), errno == ENOENT ? "check the path" : "check the path and its permissions");
  if (S_ISDIR(status.st_mode)) throw fault("it is a directory", "name a file in this directory");
  if (!S_ISREG(status.st_mode))
    throw fault("the path is a pipe or a device, but every rank must read its own part of a file",
                "save the data as a file first");
  descriptor_ = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor_ < 0) throw fault(std::strerror(errno), "check its permissions");
  size_ = static_cast<std::uint64_t>(status.st_size);
  char first = 0;
  if (size_ == 0 && ::pread(descriptor_, &first, 1, 0) > 0)
    throw fault("the system does not report its size, as for files in /proc",
                "copy the content to a regular file first");
}

File::~File() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void File::read(std::uint64_t offset, void* target, std::uint64_t bytes) const {
  constexpr std::uint64_t most = 1U << 30;  // the kernel reads less than 2 GiB per call
  char* at = static_cast<char*>(target);
  while (bytes > 0) {
    const ssize_t got =
        ::pread(descriptor_, at, static_cast<std::size_t>(std::min(bytes, most)), static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw fault(std::strerror(errno), "check the file system");
    if (got == 0)
      throw fault("it ends at byte " + std::to_string(offset) + " of " + std::to_string(size_) +
                      ": the file was changed while it was read",
                  "try again when it is complete");
    at += got;
    offset += static_cast<std::uint64_t>(got);
    bytes -= static_cast<std::uint64_t>(got);
  }
}

std::string File::read(std::uint64_t offset, std::uint64_t bytes) const {
  std::string text(static_cast<std::size_t>(bytes), '\0');
  read(offset, text.data(), bytes);
  return text;
}

std::uint64_t File::line_of(std::uint64_t offset) const {
  constexpr std::uint64_t block = 1U << 20;
  std::uint64_t line = 1;
  for (std::uint64_t begin = 0; begin < offset; begin += block) {
    const std::string text = read(begin, std::min(block, offset - begin));
    line += static_cast<std::uint64_t>(std::count(text.begin(), text.end(), '\n'));
  }
  return line;
}

Error File::fault(std::string_view why, std::string_view suggestion) const {
  return Error("cannot read " + path_ + " (" + std::string(why) + "), " + std::string(suggestion));
}

std::string shown(std::string_view text) {
  constexpr std::size_t most = 40;
  constexpr char digits[] = "0123456789ABCDEF";
  std::string result = "'";
  for (const char c : text.substr(0, most)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte < 0x7F) {
      result += c;
    } else {
      result += {'\\', 'x', digits[byte >> 4], digits[byte & 15]};
    }
  }
  return result + (text.size() > most ? "...'" : "'");
}

}  // namespace steadfold::readers
