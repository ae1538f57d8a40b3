// Memory that several ranks of a group see, each at addresses of its own: threads of one process, or ranks of a node
// that map the same file. Blocks of it hold what ranks show each other: mailboxes and boards.
// Rank order: not concerned. Cost: taking a block is a look at what came free; nothing is taken while messages move.
// Source: [S2] for what stands in the blocks.
#pragma once

#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <new>
#include <span>
#include <utility>
#include <vector>

#include "transport/shared/flags.hpp"
#include "transport/shared/post_copier.hpp"
#include "transport/transport.hpp"

namespace steadfold::transport {

/// The ranks that see it are called neighbours, and are numbered in rank order. This object belongs to a process.
class CommonMemory {
 public:
  using Place = std::uint64_t;  // where a block of a neighbour begins, as all neighbours know it
  static constexpr Place no_place = ~Place{0};

  CommonMemory() = default;
  virtual ~CommonMemory() = default;
  CommonMemory(const CommonMemory&) = delete;
  CommonMemory& operator=(const CommonMemory&) = delete;

  virtual std::size_t neighbour_count() const noexcept = 0;
  /// Where this process sees a neighbour's block.
  virtual std::byte* at(std::size_t neighbour, Place place) const noexcept = 0;
  /// Where it sees its own.
  virtual std::byte* own(Place place) const noexcept = 0;
  /// Whether the neighbours see all of each other's memory, so that they may show each other pointers.
  virtual bool is_one_process() const noexcept = 0;
  /// Lets the MPI library move what else the ranks have under way: some do so only within calls.
  virtual void make_progress() noexcept {}

  /// Copies what others are to read.
  PostCopier& copier() noexcept { return copier_; }

  /// A block with room for `bytes` behind its head, all zero; no_place if there is none. Any thread may call it.
  Place take(Bytes bytes) noexcept;
  /// Gives back a block that no neighbour was shown.
  void give_back(Place place) noexcept;
  /// This process has left the blocks that all neighbours showed each other, one of which it took. That is given back
  /// once all have left.
  void leave(std::span<const Place> places, Place own_place) noexcept;

  static constexpr Bytes head_bytes = cache_line;  // of a block

 protected:
  /// Of whole cache lines, all zero.
  virtual Place allocate(Bytes bytes) noexcept = 0;
  virtual void free(Place place, Bytes bytes) noexcept = 0;
  /// Frees what all neighbours have left.
  void reclaim() noexcept;

 private:
  struct BlockHead {
    std::atomic<std::uint64_t> users;  // neighbours that have not left
    Bytes bytes;                       // of the block
    Place next;                        // of those that wait until all have left
  };
  static_assert(sizeof(BlockHead) <= head_bytes);
  BlockHead& head_of(std::byte* block) const noexcept { return *reinterpret_cast<BlockHead*>(block); }
  /// Whether this process is a child of fork and sees the memory of its parent: what it leaves, the parent still has.
  bool is_parents() const noexcept { return !is_one_process() && getpid() != owner_; }

  PostCopier copier_;
  const pid_t owner_ = getpid();
  std::mutex mutex_;  // guards what follows, and what is allocated
  Place left_ = no_place;
};

// In here, so that libraries over MPI can derive from it.

inline CommonMemory::Place CommonMemory::take(Bytes bytes) noexcept {
  const std::lock_guard lock(mutex_);
  reclaim();
  const Bytes all = head_bytes + (bytes + cache_line - 1) / cache_line * cache_line;
  const Place place = allocate(all);
  if (place != no_place) new (own(place)) BlockHead{.users = neighbour_count(), .bytes = all, .next = no_place};
  return place;
}

inline void CommonMemory::give_back(Place place) noexcept {
  if (is_parents()) return;
  const std::lock_guard lock(mutex_);
  free(place, head_of(own(place)).bytes);
}

/// The release says that this process looks at the blocks no more, and whoever finds none left acquires that.
inline void CommonMemory::leave(std::span<const Place> places, Place own_place) noexcept {
  if (is_parents()) return;
  for (std::size_t i = 0; i < places.size(); ++i)
    head_of(at(i, places[i])).users.fetch_sub(1, std::memory_order_release);
  const std::lock_guard lock(mutex_);
  head_of(own(own_place)).next = std::exchange(left_, own_place);
  reclaim();
}

inline void CommonMemory::reclaim() noexcept {
  Place* link = &left_;
  while (*link != no_place) {
    BlockHead& head = head_of(own(*link));
    if (head.users.load(std::memory_order_acquire) != 0) {
      link = &head.next;
      continue;
    }
    const Place place = *link;
    *link = head.next;
    free(place, head.bytes);
  }
}

/// A block of every neighbour, which each takes for itself and then shows to all. It lives until all have left it.
class CommonBlocks {
 public:
  using Place = CommonMemory::Place;

  /// Local. Without room there is no block, and `place` says so. Throws std::bad_alloc.
  CommonBlocks(std::shared_ptr<CommonMemory> memory, Bytes bytes);
  ~CommonBlocks();
  CommonBlocks(const CommonBlocks&) = delete;
  CommonBlocks& operator=(const CommonBlocks&) = delete;

  Place place() const noexcept { return own_; }
  /// What this rank's block holds; null if there is none.
  std::byte* own() const noexcept { return own_ == CommonMemory::no_place ? nullptr : content(memory_->own(own_)); }

  /// The blocks of all neighbours, every one of which has one.
  void connect(std::span<const Place> places) noexcept;
  bool are_connected() const noexcept { return !contents_.empty(); }
  std::byte* of(std::size_t neighbour) const noexcept { return contents_[neighbour]; }
  std::size_t neighbour_count() const noexcept { return contents_.size(); }
  CommonMemory& memory() const noexcept { return *memory_; }

 private:
  static std::byte* content(std::byte* block) noexcept { return block + CommonMemory::head_bytes; }

  std::shared_ptr<CommonMemory> memory_;
  Place own_;
  std::vector<Place> places_;  // by neighbour, once connected
  std::vector<std::byte*> contents_;
};

/// Who sees common memory, and where this rank stands there.
struct Neighbourhood {
  std::shared_ptr<CommonMemory> memory;
  std::vector<Rank> ranks;    // ascending
  std::size_t own = 0;        // which of them is this one
  bool shares_cores = false;  // with each other
  bool drives = true;         // who waits here may call the MPI library
};

}  // namespace steadfold::transport
