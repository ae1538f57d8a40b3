// A board where every rank posts some bytes that all others read: for ranks that see each other's memory.
// Rank order: all alike. Cost: a post of at most `Post::most` bytes is one cache line, which every other rank fetches;
// a longer one as many lines as it has. Source: [S2], data and flag on one line, odd and even in turn.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <new>
#include <span>
#include <utility>
#include <vector>

#include "transport/common_memory.hpp"
#include "transport/flags.hpp"
#include "transport/transport.hpp"
#include "transport/waiting.hpp"

namespace steadfold::transport {

/// A post's line: its bytes, or how many there are if they are too long for it.
struct Post {
  static constexpr Bytes most = cache_line - 2 * sizeof(std::uint64_t);
  std::uint32_t size = 0;
  bool is_long = false;
  alignas(8) std::array<std::byte, most> bytes = {};
};
static_assert(sizeof(Box<MachineMemory, Post>) == cache_line);

/// Every rank reads every post, so more ranks are better served by messages.
inline constexpr Rank most_board_ranks = 16;

/// One rank's posts, as all ranks see them; long ones with an odd and with an even number stand behind.
struct Posts {
  Notice<MachineMemory, Post> notice;
  alignas(cache_line) Bytes long_bytes = 0;  // of each of the two

  static Bytes long_bytes_for(Bytes longest) noexcept {
    return longest <= Post::most ? 0 : (longest + cache_line - 1) / cache_line * cache_line;
  }
  std::byte* long_post(std::uint64_t parity) noexcept {
    return reinterpret_cast<std::byte*>(this + 1) + parity * long_bytes;
  }
};

/// One rank's end. One thread at a time; to be used once it is connected, and if it is: there may have been no room for
/// a rank's posts. Each round: `write`, `post`, wait for `all_have_posted`, read, `end_round`. What was read stays as
/// it is until this rank posts again.
class Board {
 public:
  /// Throws std::bad_alloc.
  Board(const Neighbourhood& among, Rank rank, Bytes longest)
      : blocks_(among.memory, sizeof(Posts) + 2 * Posts::long_bytes_for(longest)), rank_(rank), waiting_(among) {
    all_.reserve(blocks_.memory().neighbour_count());
    if (blocks_.own() == nullptr) return;
    own_ = new (blocks_.own()) Posts;
    own_->long_bytes = Posts::long_bytes_for(longest);
    place_.emplace(own_->notice);
  }

  CommonMemory::Place place() const noexcept { return blocks_.place(); }
  /// Every rank's posts, in rank order.
  void connect(std::span<const CommonMemory::Place> places) noexcept {
    blocks_.connect(places);
    for (std::size_t i = 0; i < places.size(); ++i) all_.push_back(reinterpret_cast<Posts*>(blocks_.of(i)));
  }
  bool is_connected() const noexcept { return blocks_.are_connected(); }

  Rank rank() const noexcept { return rank_; }
  std::size_t rank_count() const noexcept { return all_.size(); }

  /// Where this round's post of at most `most` bytes is written; a long one begins a cache line.
  std::byte* write(Bytes most) noexcept {
    is_long_ = most > Post::most;
    return is_long_ ? own_->long_post(place_->parity()) : place_->own().bytes.data();
  }
  /// Posts so many bytes of what was written.
  void post(Bytes size) noexcept {
    place_->own().size = static_cast<std::uint32_t>(size);
    place_->own().is_long = is_long_;
    place_->post();
    seen_ = 0;
  }
  bool all_have_posted() noexcept {
    while (seen_ < all_.size() && place_->look(all_[seen_]->notice) != nullptr) seen_ += 1;
    if (seen_ == all_.size()) {
      waiting_.found_something();
      return true;
    }
    waiting_.found_nothing();
    return false;
  }
  /// What a rank posted in this round; once all have.
  std::span<const std::byte> of(std::size_t rank) const noexcept {
    const Post& post = *place_->look(all_[rank]->notice);
    return {post.is_long ? all_[rank]->long_post(place_->parity()) : post.bytes.data(), post.size};
  }
  void end_round() noexcept { place_->done(); }

 private:
  CommonBlocks blocks_;
  Posts* own_ = nullptr;
  std::vector<Posts*> all_;
  std::optional<BoardPlace<MachineMemory, Post>> place_;
  std::size_t seen_ = 0;  // ranks that have posted in this round
  bool is_long_ = false;  // this round's own
  Rank rank_;
  Waiting waiting_;
};

}  // namespace steadfold::transport
