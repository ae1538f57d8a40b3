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
/// thread may call it. It exists until the process ends.
class Arena {
 public:
  static constexpr Bytes page = 4096;

  /// Makes the arena at the first call.
  static Arena& own();
  /// Null if own() was not called yet.
  static Arena* if_made() noexcept;

  /// Gives back memory that was taken from an arena of this process; false if the memory is in no arena. In a child of
  /// fork, does nothing to memory of the parent: only the parent can give it back.
  static bool free(std::byte* memory) noexcept;

  /// `before`: the parent's arena, if a child of fork makes its own.
  explicit Arena(Bytes bytes, Arena* before = nullptr);
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  /// `bytes` bytes of zeros, aligned to a page; null if the arena has no room, or if the system shares no memory.
  std::byte* take(Bytes bytes);
  /// Gives back taken memory; false if `memory` was not taken from this arena.
  bool give_back(std::byte* memory) noexcept;

  /// The position of these bytes in the file; empty if some of them are outside the arena.
  std::optional<Bytes> place_of(const std::byte* memory, Bytes bytes) const noexcept;
  const ArenaFile& file() const noexcept { return file_; }
  std::byte* base() const noexcept { return base_; }

 private:
  ArenaFile file_;
  std::byte* base_ = nullptr;  // null if the system shares no memory
  Arena* const before_;
  std::mutex mutex_;  // guards the following members
  FreeParts free_;    // in pages
  std::map<Bytes, Bytes> taken_;
};

/// An arena as this process sees it. It stays mapped as long as it has an owner.
class ArenaView {
 public:
  /// Null if the arena cannot be mapped here. All callers share one mapping.
  static std::shared_ptr<const ArenaView> of(const ArenaFile& file);

  ArenaView(const ArenaFile& file, std::byte* base, bool is_own) noexcept : file_(file), base_(base), is_own_(is_own) {}
  ~ArenaView();
  ArenaView(const ArenaView&) = delete;
  ArenaView& operator=(const ArenaView&) = delete;

  const ArenaFile& file() const noexcept { return file_; }
  std::byte* at(Bytes place) const noexcept { return base_ + place; }

 private:
  ArenaFile file_;
  std::byte* base_;
  bool is_own_;
};

}  // namespace steadfold::transport
