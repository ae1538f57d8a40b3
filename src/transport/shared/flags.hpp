// Flags beside data: workers that see the same memory tell each other that data have been written, and that the data
// have been read.
// Cost: one cache line moves per message whose content fits beside its flag. There are no locks, no read-modify-write
// operations and no allocations. Source: Lapillonne & Peltekov 2013, simple data exchange approaches and the odd/even
// method.
//
// The template parameter `Memory` is MachineMemory or, in tests, a model of the C++ memory model that tries every
// interleaving. The memory orders that a protocol needs have names in MachineMemory, each with its reason. On x86 they
// are plain loads and stores.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace steadfold::transport {

inline constexpr std::size_t cache_line = 64;

struct MachineMemory {
  using Counter = std::atomic<std::uint64_t>;
  /// The content of a message is written before its number, so a worker that reads the number can read the content.
  static constexpr std::memory_order announce = std::memory_order_release;
  static constexpr std::memory_order expect = std::memory_order_acquire;
  /// The content of a message is read before it is given back, so the writer may then overwrite it.
  static constexpr std::memory_order give_back = std::memory_order_release;
  static constexpr std::memory_order take_back = std::memory_order_acquire;
};

/// Requests write access to a cache line that this worker will write soon and other workers have read. Without the
/// request, the write would wait until all of them have given up the line. Changes no data.
inline void claim(const void* line) noexcept {
#if defined(__x86_64__) && defined(__GNUC__)
  // The compiler's builtin prefetch requests only read access.
  asm volatile("prefetchw %0" : : "m"(*static_cast<const char*>(line)));
#elif defined(__GNUC__)
  __builtin_prefetch(line, 1);
#endif
}

/// A message with its number, counted from 1. Number and content are on the same cache line, so that they travel
/// together.
template <class Memory, class Content>
struct alignas(cache_line) Box {
  typename Memory::Counter number{0};
  Content content{};
};

/// A lane: a queue of messages from one worker to another. The sender writes each message into the receiver's lane. A
/// message of one cache line costs two transfers of a cache line. The lane has `depth` boxes, so the sender waits while
/// `depth` messages have not been taken. The count of taken messages is the sender's credit.
template <class Memory, class Content, std::size_t depth>
struct Lane {
  std::array<Box<Memory, Content>, depth> boxes;
  alignas(cache_line) typename Memory::Counter taken{0};  // number of messages that the receiver has taken
};

template <class Memory, class Content, std::size_t depth>
class LaneSender {
 public:
  explicit LaneSender(Lane<Memory, Content, depth>& lane) noexcept : lane_(&lane) {}

  /// Whether the sender may write the next message now.
  bool has_room() noexcept { return sent_ < taken_ + depth || sent_ < taken() + depth; }
  /// Returns the memory into which the sender writes the next message.
  Content& next() noexcept { return lane_->boxes[sent_ % depth].content; }
  void send() noexcept {
    lane_->boxes[sent_ % depth].number.store(sent_ + 1, Memory::announce);
    sent_ += 1;
  }
  std::uint64_t sent() const noexcept { return sent_; }
  /// Returns the number of messages that the receiver has taken and no longer needs.
  std::uint64_t taken() noexcept { return taken_ = lane_->taken.load(Memory::take_back); }

 private:
  Lane<Memory, Content, depth>* lane_;
  std::uint64_t sent_ = 0;
  std::uint64_t taken_ = 0;  // number of taken messages when the sender last read it
};

template <class Memory, class Content, std::size_t depth>
class LaneReceiver {
 public:
  explicit LaneReceiver(Lane<Memory, Content, depth>& lane) noexcept : lane_(&lane) {}

  /// Returns the next message, if it has arrived.
  const Content* look() const noexcept {
    const auto& box = lane_->boxes[taken_ % depth];
    return box.number.load(Memory::expect) == taken_ + 1 ? &box.content : nullptr;
  }
  /// Gives the message back: the sender may overwrite the message and the data that it points to.
  void take() noexcept { lane_->taken.store(++taken_, Memory::give_back); }
  std::uint64_t taken() const noexcept { return taken_; }

 private:
  Lane<Memory, Content, depth>* lane_;
  std::uint64_t taken_ = 0;
};

/// The posts of one worker: cache lines that one worker writes and all read. Posts alternate between two boxes. (With
/// `parities` 1 there is one box; a test shows that one is not enough.)
template <class Memory, class Content, std::size_t parities = 2>
struct Notice {
  std::array<Box<Memory, Content>, parities> boxes;
};

/// One worker's end of a board. In each round every worker posts, then reads the posts of all others. No worker
/// confirms that it has read a post: a worker that posts number k + 2 has read number k + 1 of all others, and they
/// posted number k + 1 after they had read number k. So two boxes are enough.
///
///     board.own() = ...; board.post();
///     for all others: wait until board.look(notice)
///     board.done();
template <class Memory, class Content, std::size_t parities = 2>
class BoardEnd {
 public:
  explicit BoardEnd(Notice<Memory, Content, parities>& own) noexcept : own_(&own) {}

  Content& own() noexcept { return own_->boxes[posts_ % parities].content; }
  void post() noexcept { own_->boxes[posts_ % parities].number.store(posts_ + 1, Memory::announce); }
  /// Returns another worker's post of this round, if it has been posted.
  const Content* look(const Notice<Memory, Content, parities>& other) const noexcept {
    const auto& box = other.boxes[posts_ % parities];
    return box.number.load(Memory::expect) == posts_ + 1 ? &box.content : nullptr;
  }
  /// Ends a round, in which this worker has read all posts.
  void done() noexcept { posts_ += 1; }
  /// Whether this round's box has held an earlier post.
  bool is_box_used() const noexcept { return posts_ >= parities; }
  /// Returns the number of this round's box.
  std::size_t parity() const noexcept { return posts_ % parities; }

 private:
  Notice<Memory, Content, parities>* own_;
  std::uint64_t posts_ = 0;
};

}  // namespace steadfold::transport
