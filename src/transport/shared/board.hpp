// A board, on which every rank posts bytes that all other ranks read. The ranks must see each other's memory.
// Cost: a post of at most `Post::most` bytes takes two cache lines, or one cache line if the post fits in it. A longer
// post takes as many lines as its bytes fill. Every other rank fetches these lines. Source: Lapillonne & Peltekov 2013,
// data and flag on one cache line, the odd/even method.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <utility>
#include <vector>

#include "transport/shared/common_memory.hpp"
#include "transport/shared/flags.hpp"
#include "transport/shared/waiting.hpp"
#include "transport/transport.hpp"

namespace steadfold::transport {

/// The two cache lines of a post; a short post needs only the first. The lines hold the bytes of the post, or only the
/// number of bytes if the post is longer, and a mark of the writer. Two lines are enough for the handshake of a
/// one-shot call of one number.
struct Post {
  static constexpr Bytes most = 2 * cache_line - 2 * sizeof(std::uint64_t);
  std::uint32_t size = 0;
  bool is_long = false;
  std::uint8_t mark = 0;
  alignas(8) std::array<std::byte, most> bytes = {};
};
static_assert(sizeof(Box<MachineMemory, Post>) == 2 * cache_line);

/// The largest number of ranks of a board. Every rank reads every post, so for more ranks messages are faster.
inline constexpr Rank most_board_ranks = 64;

/// One rank's posts, as all ranks see them. The memory after this struct has two long posts, one for even and one for
/// odd rounds.
struct Posts {
  Notice<MachineMemory, Post> notice;
  alignas(cache_line) Bytes long_bytes = 0;  // bytes of each long post

  static Bytes long_bytes_for(Bytes longest) noexcept {
    return longest <= Post::most ? 0 : (longest + cache_line - 1) / cache_line * cache_line;
  }
  std::byte* long_post(std::uint64_t parity) noexcept {
    return reinterpret_cast<std::byte*>(this + 1) + parity * long_bytes;
  }
};

/// Copies bytes. Fast for the common case of one number.
inline void copy_bytes(std::byte* to, const std::byte* from, Bytes bytes) noexcept {
  if (bytes == sizeof(std::uint64_t))
    std::memcpy(to, from, sizeof(std::uint64_t));
  else if (bytes > 0)
    std::memcpy(to, from, bytes);
}

/// One rank's end of a board. Use the object from one thread at a time, after it is connected. The board stays
/// unconnected if a rank had no memory for its posts. In each round: `write`, `post`, wait for `all_have_posted`, read,
/// `end_round`. The bytes read stay valid until this rank posts again.
///
/// Moving a cache line between cores takes as long as some hundred instructions. After other ranks have read a rank's
/// post, the rank itself needs the same time to read it. So a rank keeps a copy of its post, unless the post is long.
class Board {
 public:
  /// Takes memory for this rank's posts. Throws std::bad_alloc.
  Board(const Neighbourhood& among, Rank rank, Bytes longest)
      : blocks_(among.memory, sizeof(Posts) + 2 * Posts::long_bytes_for(longest)), rank_(rank), waiting_(among) {
    all_.reserve(blocks_.memory().neighbour_count());
    others_.reserve(blocks_.memory().neighbour_count());
    if (blocks_.own() == nullptr) return;
    own_ = new (blocks_.own()) Posts;
    own_->long_bytes = Posts::long_bytes_for(longest);
    for (auto& copy : copies_) copy.resize(std::min(longest, most_copied) / cache_line + 1);
    end_.emplace(own_->notice);
  }

  CommonMemory::BlockId block() const noexcept { return blocks_.block(); }
  /// Connects the board. `blocks` has the block of every rank's posts, in rank order.
  void connect(std::span<const CommonMemory::BlockId> blocks) noexcept {
    blocks_.connect(blocks);
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      all_.push_back(reinterpret_cast<Posts*>(blocks_.of(i)));
      if (!is_own(i)) others_.push_back(all_.back());
    }
  }
  bool is_connected() const noexcept { return blocks_.are_connected(); }

  Rank rank() const noexcept { return rank_; }
  std::size_t rank_count() const noexcept { return all_.size(); }

  /// Returns the address for this round's post of at most `most` bytes; aligned to a cache line.
  std::byte* write(Bytes most) noexcept {
    is_copied_ = most <= most_copied;
    return is_copied_ ? copy_of(end_->parity()) : own_->long_post(end_->parity());
  }
  /// Copies bytes to the start of this round's post.
  void copy(std::byte* to, const std::byte* from, Bytes bytes) noexcept {
    if (is_copied_)
      copy_bytes(to, from, bytes);
    else
      blocks_.memory().copier().copy(to, from, bytes, end_->is_box_used());
  }
  /// Posts the first `size` bytes of the written post, together with a mark.
  void post(Bytes size, std::uint8_t mark = 0) noexcept {
    Post& own = end_->own();
    own.size = static_cast<std::uint32_t>(size_ = size);
    own.is_long = !is_copied_ || size > Post::most;
    own.mark = mark_ = mark;
    if (is_copied_)
      copy_bytes(own.is_long ? own_->long_post(end_->parity()) : own.bytes.data(), copy_of(end_->parity()), size);
    end_->post();
    seen_ = 0;
  }
  bool all_have_posted() noexcept {
    while (seen_ < others_.size() && end_->look(others_[seen_]->notice) != nullptr) seen_ += 1;
    if (seen_ == others_.size()) {
      waiting_.found_something();
      return true;
    }
    waiting_.found_nothing();
    return false;
  }
  /// Returns the bytes that a rank posted in this round. Call this function after all ranks have posted.
  std::span<const std::byte> of(std::size_t rank) const noexcept {
    if (is_own(rank)) return {is_copied_ ? copy_of(end_->parity()) : own_->long_post(end_->parity()), size_};
    const Post& post = *end_->look(all_[rank]->notice);
    return {post.is_long ? all_[rank]->long_post(end_->parity()) : post.bytes.data(), post.size};
  }
  /// Returns the greatest mark of this round. Call this function after all ranks have posted.
  std::uint8_t greatest_mark() const noexcept {
    std::uint8_t greatest = mark_;
    for (const Posts* const each : others_) greatest = std::max(greatest, end_->look(each->notice)->mark);
    return greatest;
  }
  /// Returns the parity of this round's number: 0 if the number is even, 1 if it is odd.
  std::size_t parity() const noexcept { return end_->parity(); }
  /// Returns the address of a rank's post of `size` bytes, at most `most_copied`, in rounds with this parity.
  const std::byte* post_address(std::size_t rank, std::size_t parity, Bytes size) const noexcept {
    if (is_own(rank)) return copy_of(parity);
    return size > Post::most ? all_[rank]->long_post(parity) : all_[rank]->notice.boxes[parity].content.bytes.data();
  }
  void end_round() noexcept {
    end_->done();
    claim(&end_->own());
  }

  static constexpr Bytes most_copied = 4096;

 private:
  struct alignas(cache_line) CacheLine {
    std::array<std::byte, cache_line> bytes;
  };
  bool is_own(std::size_t rank) const noexcept { return static_cast<Rank>(rank) == rank_; }
  std::byte* copy_of(std::size_t parity) noexcept { return copies_[parity].front().bytes.data(); }
  const std::byte* copy_of(std::size_t parity) const noexcept { return copies_[parity].front().bytes.data(); }

  CommonBlocks blocks_;
  Posts* own_ = nullptr;
  std::vector<Posts*> all_;
  std::vector<Posts*> others_;
  std::optional<BoardEnd<MachineMemory, Post>> end_;
  std::array<std::vector<CacheLine>, 2> copies_;  // copies of this rank's posts, for even and for odd rounds
  std::size_t seen_ = 0;                          // number of other ranks that have posted in this round
  Bytes size_ = 0;                                // bytes of this rank's post in this round
  std::uint8_t mark_ = 0;
  bool is_copied_ = false;
  Rank rank_;
  Waiting waiting_;
};

}  // namespace steadfold::transport
