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

#include "transport/flags.hpp"
#include "transport/patience.hpp"
#include "transport/transport.hpp"

namespace steadfold::transport {

/// A post's line: its bytes, or how many there are if they are too long for it.
struct Post {
  static constexpr Bytes most = cache_line - 2 * sizeof(std::uint64_t);
  std::uint32_t size = 0;
  bool is_long = false;
  alignas(8) std::array<std::byte, most> bytes = {};
};
static_assert(sizeof(Box<MachineMemory, Post>) == cache_line);

/// One rank's posts, as all ranks see them.
class Posts {
 public:
  /// `longest`: of a post. Throws std::bad_alloc.
  explicit Posts(Bytes longest) {
    if (longest <= Post::most) return;
    const Bytes each = (longest + cache_line - 1) / cache_line * cache_line;
    long_.reset(static_cast<std::byte*>(::operator new(2 * each, std::align_val_t{cache_line})));
    long_bytes_ = each;
  }

  Notice<MachineMemory, Post> notice;
  /// Where long posts with an odd or even number stand.
  std::byte* long_post(std::uint64_t parity) const noexcept { return long_.get() + parity * long_bytes_; }

 private:
  struct Release {
    void operator()(std::byte* block) const noexcept { ::operator delete(block, std::align_val_t{cache_line}); }
  };
  std::unique_ptr<std::byte, Release> long_;
  Bytes long_bytes_ = 0;
};

/// One rank's end. One thread at a time; to be used once it is connected. Each round: `write`, `post`, wait for
/// `all_have_posted`, read, `end_round`. What was read stays as it is until this rank posts again.
class Board {
 public:
  /// Throws std::bad_alloc.
  Board(Rank rank, Bytes longest, bool shares_cores)
      : own_(std::make_shared<Posts>(longest)),
        place_(own_->notice),
        rank_(rank),
        patience_(shares_cores, Patience::Sleeps::after_long) {}

  const std::shared_ptr<Posts>& own() const noexcept { return own_; }
  /// Every rank's posts, in rank order.
  void connect(std::vector<std::shared_ptr<Posts>> all) { all_ = std::move(all); }

  Rank rank() const noexcept { return rank_; }
  std::size_t rank_count() const noexcept { return all_.size(); }

  /// Where this round's post of at most `most` bytes is written.
  std::byte* write(Bytes most) noexcept {
    is_long_ = most > Post::most;
    return is_long_ ? own_->long_post(round_ % 2) : place_.own().bytes.data();
  }
  /// Posts so many bytes of what was written.
  void post(Bytes size) noexcept {
    place_.own().size = static_cast<std::uint32_t>(size);
    place_.own().is_long = is_long_;
    place_.post();
    seen_ = 0;
  }
  bool all_have_posted() noexcept {
    while (seen_ < all_.size() && place_.look(all_[seen_]->notice) != nullptr) seen_ += 1;
    if (seen_ == all_.size()) {
      patience_.found_something();
      return true;
    }
    patience_.found_nothing();
    return false;
  }
  /// What a rank posted in this round; once all have.
  std::span<const std::byte> of(std::size_t rank) const noexcept {
    const Post& post = *place_.look(all_[rank]->notice);
    return {post.is_long ? all_[rank]->long_post(round_ % 2) : post.bytes.data(), post.size};
  }
  void end_round() noexcept {
    place_.done();
    round_ += 1;
  }

 private:
  std::shared_ptr<Posts> own_;
  std::vector<std::shared_ptr<Posts>> all_;
  BoardPlace<MachineMemory, Post> place_;
  std::uint64_t round_ = 0;
  std::size_t seen_ = 0;  // ranks that have posted in this round
  bool is_long_ = false;  // this round's own
  Rank rank_;
  Patience patience_;
};

}  // namespace steadfold::transport
