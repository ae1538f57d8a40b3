// Memory that callers take from the library, so that ranks on the same node can read and write it in place.
// Rank order: not concerned. Cost: taking and giving back are O(log of what is taken) and touch no pages.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

#include "transport/free_parts.hpp"
#include "transport/shared/file.hpp"

namespace steadfold::transport {

/// What a process says of its arena to its neighbours: which file it is, and how long.
struct ArenaFile {
  SharedFile file;
  Bytes bytes = 0;

  friend bool operator==(const ArenaFile&, const ArenaFile&) = default;
};

/// The arena of this process, a file as large as the machine's memory, of which only what is used takes any. Any thread
/// may call it. It is there until the process ends.
class Arena {
 public:
  static constexpr Bytes page = 4096;

  /// Makes it where there is none yet.
  static Arena& own();
  /// Null where nobody has asked for it yet.
  static Arena* if_made() noexcept;

  /// Gives back what was taken of the arena of this process; false if the memory is of no arena. Memory of a parent
  /// stays as it is: it is the parent that gives it back.
  static bool free(std::byte* memory) noexcept;

  /// `before`: that of the parent, where a child of fork makes its own.
  explicit Arena(Bytes bytes, Arena* before = nullptr);
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  /// So many bytes, all zero, at the beginning of a page; null if there are not as many, or the system shares no
  /// memory.
  std::byte* take(Bytes bytes);
  /// Gives back what was taken; false if that is none of it.
  bool give_back(std::byte* memory) noexcept;

  /// Where in the file these bytes are, all of which must be in the arena.
  std::optional<Bytes> place_of(const std::byte* memory, Bytes bytes) const noexcept;
  const ArenaFile& file() const noexcept { return file_; }
  std::byte* base() const noexcept { return base_; }

 private:
  ArenaFile file_;
  std::byte* base_ = nullptr;  // null: the system shares no memory
  Arena* const before_;
  std::mutex mutex_;  // guards what follows
  FreeParts free_;    // pages
  std::map<Bytes, Bytes> taken_;
};

/// An arena as this process sees it. It stays mapped as long as somebody holds it.
class ArenaView {
 public:
  /// Nothing if it cannot be mapped here. One mapping serves all who ask for it.
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
