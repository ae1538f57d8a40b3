// Memory that several ranks of a group see, each possibly at different addresses: threads of one process, or ranks of a
// node that map the same file. Ranks show each other blocks of this memory, which hold mailboxes and boards.
// Cost: before a block is taken, blocks that are no longer used are freed. Messages take no blocks.
// Source: the content of the blocks is that of Lapillonne & Peltekov 2013.
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

/// The ranks that see the common memory are called neighbours and are numbered in rank order. Each process has one
/// object of this class.
class CommonMemory {
 public:
  using BlockId = std::uint64_t;  // identifies a block; the number is the same for all neighbours
  static constexpr BlockId no_block = ~BlockId{0};

  CommonMemory() = default;
  virtual ~CommonMemory() = default;
  CommonMemory(const CommonMemory&) = delete;
  CommonMemory& operator=(const CommonMemory&) = delete;

  virtual std::size_t neighbour_count() const noexcept = 0;
  /// Returns the address at which this process sees a neighbour's block.
  virtual std::byte* at(std::size_t neighbour, BlockId block) const noexcept = 0;
  /// Returns the address of this rank's block.
  virtual std::byte* own(BlockId block) const noexcept = 0;
  /// Whether the neighbours see all of each other's memory, so that they may exchange pointers.
  virtual bool is_one_process() const noexcept = 0;
  /// Lets the MPI library progress the ranks' other messages: some libraries do so only within calls.
  virtual void make_progress() noexcept {}

  /// Returns the object that copies posts for other ranks.
  PostCopier& copier() noexcept { return copier_; }

  /// Takes a block of this rank with `bytes` zero bytes after its head. Returns no_block if there is no room. Any
  /// thread may call this function.
  BlockId take(Bytes bytes) noexcept;
  /// Gives back a block that this process has not shown to its neighbours.
  void give_back(BlockId block) noexcept;
  /// Says that this process no longer uses the blocks that all neighbours showed each other. The memory of this rank's
  /// block is freed after all neighbours have left it.
  void leave(std::span<const BlockId> blocks, BlockId own_block) noexcept;

  static constexpr Bytes head_bytes = cache_line;  // bytes of a block's head

 protected:
  /// Allocates zeroed memory. `bytes` is a multiple of a cache line.
  virtual BlockId allocate(Bytes bytes) noexcept = 0;
  virtual void free(BlockId block, Bytes bytes) noexcept = 0;
  /// Frees the blocks that all neighbours have left.
  void reclaim() noexcept;

 private:
  struct BlockHead {
    std::atomic<std::uint64_t> users;  // number of neighbours that still use the block
    Bytes bytes;                       // bytes of the block
    BlockId next;                      // the next block of the list of blocks that wait until all neighbours have left
  };
  static_assert(sizeof(BlockHead) <= head_bytes);
  BlockHead& head_of(std::byte* block) const noexcept { return *reinterpret_cast<BlockHead*>(block); }
  /// Whether this process is a child of fork and sees its parent's memory. In this case it frees nothing, because the
  /// parent still uses the blocks.
  bool is_parents() const noexcept { return !is_one_process() && getpid() != owner_; }

  PostCopier copier_;
  const pid_t owner_ = getpid();
  std::mutex mutex_;  // guards the following members, and allocate() and free()
  BlockId left_ = no_block;
};

// Inline, so that classes in other libraries (for the MPI layer) can derive from CommonMemory.

inline CommonMemory::BlockId CommonMemory::take(Bytes bytes) noexcept {
  const std::lock_guard lock(mutex_);
  reclaim();
  const Bytes all = head_bytes + (bytes + cache_line - 1) / cache_line * cache_line;
  const BlockId block = allocate(all);
  if (block != no_block) new (own(block)) BlockHead{.users = neighbour_count(), .bytes = all, .next = no_block};
  return block;
}

inline void CommonMemory::give_back(BlockId block) noexcept {
  if (is_parents()) return;
  const std::lock_guard lock(mutex_);
  free(block, head_of(own(block)).bytes);
}

/// The release operation orders this process's last reads of the blocks before the count. The release operation pairs
/// with the acquire operation in reclaim().
inline void CommonMemory::leave(std::span<const BlockId> blocks, BlockId own_block) noexcept {
  if (is_parents()) return;
  for (std::size_t i = 0; i < blocks.size(); ++i)
    head_of(at(i, blocks[i])).users.fetch_sub(1, std::memory_order_release);
  const std::lock_guard lock(mutex_);
  head_of(own(own_block)).next = std::exchange(left_, own_block);
  reclaim();
}

inline void CommonMemory::reclaim() noexcept {
  BlockId* link = &left_;
  while (*link != no_block) {
    BlockHead& head = head_of(own(*link));
    if (head.users.load(std::memory_order_acquire) != 0) {
      link = &head.next;
      continue;
    }
    const BlockId block = *link;
    *link = head.next;
    free(block, head.bytes);
  }
}

/// One block per neighbour: each neighbour takes a block and shows it to all. A block lives until all neighbours have
/// left it.
class CommonBlocks {
 public:
  using BlockId = CommonMemory::BlockId;

  /// Takes this rank's block. If there is no room, `block` returns no_block. Throws std::bad_alloc. Local.
  CommonBlocks(std::shared_ptr<CommonMemory> memory, Bytes bytes);
  ~CommonBlocks();
  CommonBlocks(const CommonBlocks&) = delete;
  CommonBlocks& operator=(const CommonBlocks&) = delete;

  BlockId block() const noexcept { return own_; }
  /// Returns the content of this rank's block; null if it has no block.
  std::byte* own() const noexcept { return own_ == CommonMemory::no_block ? nullptr : content(memory_->own(own_)); }

  /// Connects the blocks. `blocks` has the blocks of all neighbours; every neighbour must have a block.
  void connect(std::span<const BlockId> blocks) noexcept;
  bool are_connected() const noexcept { return !contents_.empty(); }
  std::byte* of(std::size_t neighbour) const noexcept { return contents_[neighbour]; }
  std::size_t neighbour_count() const noexcept { return contents_.size(); }
  CommonMemory& memory() const noexcept { return *memory_; }

 private:
  static std::byte* content(std::byte* block) noexcept { return block + CommonMemory::head_bytes; }

  std::shared_ptr<CommonMemory> memory_;
  BlockId own_;
  std::vector<BlockId> blocks_;  // the blocks by neighbour, after `connect`
  std::vector<std::byte*> contents_;
};

/// The ranks that see common memory, and the position of this rank among them.
struct Neighbourhood {
  std::shared_ptr<CommonMemory> memory;
  std::vector<Rank> ranks;    // the ranks, in ascending order
  std::size_t own = 0;        // index of this rank in `ranks`
  bool shares_cores = false;  // whether the ranks share cores with each other
  bool drives = true;         // whether this rank may call the MPI library while it waits
};

}  // namespace steadfold::transport
