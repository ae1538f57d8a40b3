// Memory that callers take from the library, so that ranks on the same node can read and write it in place.
// Cost: taking and giving back are O(log parts) and touch no pages.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

#include "transport/free_parts.hpp"
#include "transport/shared/file.hpp"

namespace steadfold::transport {

/// A process's arena, as the process describes it to its neighbours: the file and its length.
struct ArenaFile {
  SharedFile file;
  Bytes bytes = 0;

  friend bool operator==(const ArenaFile&, const ArenaFile&) = default;
};

/// The arena of this process: a file as large as the machine's memory, of which only used pages occupy memory. Any
/// thread may call its functions. The arena exists until the process ends.
class Arena {
 public:
  static constexpr Bytes page = 4096;

  /// Returns the arena of this process, and makes it at the first call.
  static Arena& own();
  /// Returns the arena of this process, or null if own() was not called yet.
  static Arena* if_made() noexcept;

  /// Gives back memory that was taken from an arena of this process. Returns false if the memory is in no arena. A
  /// child of fork cannot give back memory of its parent; in this case nothing happens.
  static bool free(std::byte* memory) noexcept;

  /// `before` is the parent's arena, if a child of fork makes an arena.
  explicit Arena(Bytes bytes, Arena* before = nullptr);
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  /// Returns `bytes` bytes of zeros, aligned to a page. Returns null if the arena has no room, or if the system cannot
  /// share memory.
  std::byte* take(Bytes bytes);
  /// Gives back memory from `take`. Returns false if `memory` was not taken from this arena.
  bool give_back(std::byte* memory) noexcept;

  /// Returns the offset of these bytes in the file; empty if some of them are outside the arena.
  std::optional<Bytes> offset_of(const std::byte* memory, Bytes bytes) const noexcept;
  const ArenaFile& file() const noexcept { return file_; }
  std::byte* base() const noexcept { return base_; }

 private:
  ArenaFile file_;
  std::byte* base_ = nullptr;  // beginning of the mapped file; null if the system cannot share memory
  Arena* const before_;
  std::mutex mutex_;  // guards the following members
  FreeParts free_;    // the free pages
  std::map<Bytes, Bytes> taken_;
};

/// A process's arena as this process sees it. The arena stays mapped as long as the object has an owner.
class ArenaView {
 public:
  /// Returns the view of an arena, or null if the arena cannot be mapped in this process. All callers share one
  /// mapping.
  static std::shared_ptr<const ArenaView> of(const ArenaFile& file);

  ArenaView(const ArenaFile& file, std::byte* base, bool is_own) noexcept : file_(file), base_(base), is_own_(is_own) {}
  ~ArenaView();
  ArenaView(const ArenaView&) = delete;
  ArenaView& operator=(const ArenaView&) = delete;

  const ArenaFile& file() const noexcept { return file_; }
  std::byte* at(Bytes offset) const noexcept { return base_ + offset; }

 private:
  ArenaFile file_;
  std::byte* base_;
  bool is_own_;
};

}  // namespace steadfold::transport
