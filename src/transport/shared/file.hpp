// Files without a name, which several processes of a node map. The system removes the files however the processes end.
// Source: memfd_create(2), proc(5).
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <string>

#include "order/index.hpp"

namespace steadfold::transport {

using order::Bytes;

/// An open file of a process, and the identity of the file: a process number may mean another process to another rank.
struct SharedFile {
  pid_t process = 0;
  int descriptor = -1;  // negative if there is no file
  dev_t device = 0;
  ino_t number = 0;

  bool is_at(int other) const noexcept {
    struct stat found = {};
    return fstat(other, &found) == 0 && found.st_dev == device && found.st_ino == number;
  }
  friend bool operator==(const SharedFile&, const SharedFile&) = default;
};

/// Makes a file of `bytes` zero bytes. A page of the file occupies memory only after it is written. The caller closes
/// the file.
inline SharedFile make_shared_file(Bytes bytes) noexcept {
  SharedFile file = {.process = getpid(), .descriptor = memfd_create("steadfold", MFD_CLOEXEC)};
  struct stat made = {};
  if (file.descriptor < 0) return file;
  if (ftruncate(file.descriptor, static_cast<off_t>(bytes)) != 0 || fstat(file.descriptor, &made) != 0) {
    close(file.descriptor);
    file.descriptor = -1;
  }
  file.device = made.st_dev;
  file.number = made.st_ino;
  return file;
}

/// Maps a file of this process or of another process on the node. Returns null and sets errno on failure.
inline std::byte* mapped(const SharedFile& file, bool is_own, Bytes bytes) {
  if (file.descriptor < 0) return nullptr;
  int descriptor = file.descriptor;
  if (!is_own) {
    const std::string path = "/proc/" + std::to_string(file.process) + "/fd/" + std::to_string(file.descriptor);
    descriptor = open(path.c_str(), O_RDWR | O_CLOEXEC);
  }
  if (descriptor < 0) return nullptr;
  errno = ESTALE;
  void* const all =
      file.is_at(descriptor) ? mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0) : MAP_FAILED;
  if (!is_own) close(descriptor);
  return all == MAP_FAILED ? nullptr : static_cast<std::byte*>(all);
}

}  // namespace steadfold::transport
