#include "unpack.hpp"

#include <unistd.h>
#ifdef STEADFOLD_ZLIB
#include <zlib.h>
#endif

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>
#include <vector>

namespace steadfold::readers {

std::uint64_t most_unpacked(const Options& options) {
  if (options.most_unpacked > 0) return options.most_unpacked;
  const long pages = ::sysconf(_SC_PHYS_PAGES), bytes = ::sysconf(_SC_PAGESIZE);
  constexpr std::uint64_t unknown = std::uint64_t{1} << 32;
  return pages > 0 && bytes > 0 ? static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(bytes) / 2 : unknown;
}

#ifndef STEADFOLD_ZLIB
// Builds for another processor, which run only tests, have no zlib.
std::unique_ptr<File> unpacked(const File& file, const Packed& packed, std::uint64_t) {
  throw file.fault(std::string("it is compressed by ") + (packed.is_gzip ? "gzip" : "deflate") +
                       ", but this program was built without zlib",
                   "unpack it first");
}
std::uint32_t crc32_of(const File& file) {
  throw file.fault("it has a check sum, but this program was built without zlib", "unpack it first");
}
#else
namespace {

constexpr std::uint64_t at_once = 1U << 16;  // bytes

/// Bytes in memory, in blocks of equal size, so that they never move while more are added.
class MemoryFile final : public File {
 public:
  MemoryFile(std::string path, std::uint64_t size, std::vector<std::string> blocks)
      : File(std::move(path), size), blocks_(std::move(blocks)) {}

  using File::read;
  void read(std::uint64_t offset, void* target, std::uint64_t bytes) const override {
    if (bytes > size() || offset > size() - bytes)
      throw fault("its unpacked content ends at byte " + std::to_string(size()),
                  "check that the whole file was copied");
    for (char* to = static_cast<char*>(target); bytes > 0;) {
      const std::string& block = blocks_[static_cast<std::size_t>(offset / at_once)];
      const std::uint64_t within = offset % at_once, now = std::min(bytes, at_once - within);
      std::memcpy(to, block.data() + within, static_cast<std::size_t>(now));
      to += now;
      offset += now;
      bytes -= now;
    }
  }

 private:
  std::vector<std::string> blocks_;
};

/// Unpacks the bytes of a file one after the other.
class Unpacker {
 public:
  Unpacker(const File& file, const Packed& packed) : file_(file), packed_(packed), place_(packed.begin) {
    // zlib checks the CRC-32 and the length in the trailer of gzip.
    constexpr int with_gzip = 16;
    if (::inflateInit2(&stream_, packed.is_gzip ? MAX_WBITS + with_gzip : -MAX_WBITS) != Z_OK) throw std::bad_alloc();
  }
  ~Unpacker() { ::inflateEnd(&stream_); }
  Unpacker(const Unpacker&) = delete;
  Unpacker& operator=(const Unpacker&) = delete;

  /// Fills the block as far as there are bytes, and returns their number.
  std::uint64_t fill(std::string& block) {
    stream_.next_out = reinterpret_cast<Bytef*>(block.data());
    stream_.avail_out = static_cast<uInt>(block.size());
    while (stream_.avail_out > 0 && !has_ended_) step();
    return block.size() - stream_.avail_out;
  }

 private:
  /// Makes sure that there are packed bytes; returns false if all were read.
  bool refill() {
    if (stream_.avail_in > 0) return true;
    const std::uint64_t now = std::min(at_once, packed_.end - place_);
    input_ = file_.read(place_, now);
    place_ += now;
    stream_.next_in = reinterpret_cast<Bytef*>(input_.data());
    stream_.avail_in = static_cast<uInt>(now);
    return now > 0;
  }

  void step() {
    const bool has_input = refill();
    const int status = ::inflate(&stream_, Z_NO_FLUSH);  // without input, too, as bytes may wait for room
    if (status == Z_BUF_ERROR && !has_input)
      throw file_.fault("truncated: " + data() + " have no end", "check that the whole file was copied");
    if (status == Z_MEM_ERROR) throw std::bad_alloc();
    if (status == Z_STREAM_END) return end_member();
    if (status != Z_OK && status != Z_BUF_ERROR)
      throw file_.fault(data() + " are damaged: " + (stream_.msg != nullptr ? stream_.msg : "no dictionary") +
                            ", before byte " + std::to_string(place_ - stream_.avail_in),
                        "check that the whole file was copied");
  }

  /// Another member of gzip may follow, as programs write that append to files, or zero bytes, as tapes have.
  void end_member() {
    if (packed_.is_gzip && refill() && *stream_.next_in == 0x1F) {
      ::inflateReset(&stream_);
      return;
    }
    has_ended_ = true;
    for (; refill(); stream_.avail_in = 0) {
      if (!packed_.is_gzip || input_.find_first_not_of('\0', input_.size() - stream_.avail_in) != std::string::npos)
        throw file_.fault(
            "other bytes follow " + data() + ", from byte " + std::to_string(place_ - stream_.avail_in) + " on",
            "check that the file was not damaged");
    }
  }

  std::string data() const { return std::string("its data compressed by ") + (packed_.is_gzip ? "gzip" : "deflate"); }

  const File& file_;
  const Packed& packed_;
  std::uint64_t place_;  // where the next bytes of the file are read
  std::string input_;
  z_stream stream_ = {};
  bool has_ended_ = false;
};

Error too_large(const File& file, std::uint64_t most) {
  return file.fault("its unpacked content takes more than " + std::to_string(most) + " bytes of memory",
                    "unpack it first, so that each rank reads only its part");
}

}  // namespace

std::unique_ptr<File> unpacked(const File& file, const Packed& packed, std::uint64_t most) {
  std::uint64_t size = 0;
  try {
    Unpacker unpacker(file, packed);
    std::vector<std::string> blocks;
    for (;;) {
      std::string block(at_once, '\0');
      const std::uint64_t found = unpacker.fill(block);
      size += found;
      if (size > most) throw too_large(file, most);
      if (found > 0) blocks.push_back(std::move(block));
      if (found < at_once) break;
    }
    return std::make_unique<MemoryFile>(packed.path, size, std::move(blocks));
  } catch (const std::bad_alloc&) {
    throw too_large(file, size);
  }
}

std::uint32_t crc32_of(const File& file) {
  uLong crc = ::crc32(0, nullptr, 0);
  for (std::uint64_t begin = 0; begin < file.size(); begin += at_once) {
    const std::string bytes = file.read(begin, std::min(at_once, file.size() - begin));
    crc = ::crc32(crc, reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uInt>(bytes.size()));
  }
  return static_cast<std::uint32_t>(crc);
}
#endif

}  // namespace steadfold::readers
