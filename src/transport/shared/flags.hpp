// Flags beside data: how workers that see the same memory tell each other that data are there, and that they were read.
// Rank order: not concerned. Cost: one cache line moves per message whose content fits beside its flag; no locks, no
// read-modify-write, nothing allocated. Source: [S2], simple data exchange approaches and the odd/even method.
//
// `Memory` says what memory is: MachineMemory, or in the tests a model of the C++ memory model that looks at every
// interleaving. What a protocol asks of memory is the orders that Memory names, each with its reason; on x86 they are
// plain loads and stores.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace steadfold::transport {

inline constexpr std::size_t cache_line = 64;

struct MachineMemory {
  using Counter = std::atomic<std::uint64_t>;
  /// The content was written before its number, so who reads the number reads the content.
  static constexpr std::memory_order announce = std::memory_order_release;
  static constexpr std::memory_order expect = std::memory_order_acquire;
  /// The content was read before the reader gave it back, so who is told so may write over it.
  static constexpr std::memory_order give_back = std::memory_order_release;
  static constexpr std::memory_order take_back = std::memory_order_acquire;
};

/// Asks for a line that this worker will write soon and others have read: else the write would wait until all of them
/// have given it up. Changes nothing.
inline void claim(const void* line) noexcept {
#if defined(__x86_64__) && defined(__GNUC__)
  asm volatile("prefetchw %0" : : "m"(*static_cast<const char*>(line)));  // the built-in one only reads
#elif defined(__GNUC__)
  __builtin_prefetch(line, 1);
#endif
}

/// A message: its number, counted from 1, and its content on the same line, so that they travel together.
template <class Memory, class Content>
struct alignas(cache_line) Box {
  typename Memory::Counter number{0};
  Content content{};
};

/// One worker sends to another: sender-driven, two lines where a message takes one. Modulo `depth`: so many messages
/// may be on their way before the sender has to wait. The count of those taken is the credit.
template <class Memory, class Content, std::size_t depth>
struct Lane {
  std::array<Box<Memory, Content>, depth> boxes;
  alignas(cache_line) typename Memory::Counter taken{0};  // written by the receiver
};

template <class Memory, class Content, std::size_t depth>
class LaneSender {
 public:
  explicit LaneSender(Lane<Memory, Content, depth>& lane) noexcept : lane_(&lane) {}

  /// Whether the next message may be written now.
  bool has_room() noexcept { return sent_ < taken_ + depth || sent_ < taken() + depth; }
  /// Where it is written.
  Content& next() noexcept { return lane_->boxes[sent_ % depth].content; }
  void send() noexcept {
    lane_->boxes[sent_ % depth].number.store(sent_ + 1, Memory::announce);
    sent_ += 1;
  }
  std::uint64_t sent() const noexcept { return sent_; }
  /// How many messages the receiver has taken, and needs no more.
  std::uint64_t taken() noexcept { return taken_ = lane_->taken.load(Memory::take_back); }

 private:
  Lane<Memory, Content, depth>* lane_;
  std::uint64_t sent_ = 0;
  std::uint64_t taken_ = 0;  // when it was last looked for
};

template <class Memory, class Content, std::size_t depth>
class LaneReceiver {
 public:
  explicit LaneReceiver(Lane<Memory, Content, depth>& lane) noexcept : lane_(&lane) {}

  /// The next message, if it has come.
  const Content* look() const noexcept {
    const auto& box = lane_->boxes[taken_ % depth];
    return box.number.load(Memory::expect) == taken_ + 1 ? &box.content : nullptr;
  }
  /// The sender may write over it, and over what it points to.
  void take() noexcept { lane_->taken.store(++taken_, Memory::give_back); }
  std::uint64_t taken() const noexcept { return taken_; }

 private:
  Lane<Memory, Content, depth>* lane_;
  std::uint64_t taken_ = 0;
};

/// A line that one worker writes and all read, odd and even posts in turn (with `parities` 1, which tests show to be
/// too few, always the same box).
template <class Memory, class Content, std::size_t parities = 2>
struct Notice {
  std::array<Box<Memory, Content>, parities> boxes;
};

/// One worker's place at a board where every worker posts, then reads what all others posted, and so on. Nobody tells
/// that a post was read: whoever posts number k + 2 has read number k + 1 of all others, and they posted that after
/// they had read number k. So two boxes are enough.
///
///     board.own() = ...; board.post();
///     for all others: wait until board.look(notice)
///     board.done();
template <class Memory, class Content, std::size_t parities = 2>
class BoardPlace {
 public:
  explicit BoardPlace(Notice<Memory, Content, parities>& own) noexcept : own_(&own) {}

  Content& own() noexcept { return own_->boxes[posts_ % parities].content; }
  void post() noexcept { own_->boxes[posts_ % parities].number.store(posts_ + 1, Memory::announce); }
  /// What another one posted, if it is there.
  const Content* look(const Notice<Memory, Content, parities>& other) const noexcept {
    const auto& box = other.boxes[posts_ % parities];
    return box.number.load(Memory::expect) == posts_ + 1 ? &box.content : nullptr;
  }
  /// Everything posted has been read.
  void done() noexcept { posts_ += 1; }
  /// Whether there was another post in this one's box.
  bool is_box_used() const noexcept { return posts_ >= parities; }
  /// Which box this post is in.
  std::size_t parity() const noexcept { return posts_ % parities; }

 private:
  Notice<Memory, Content, parities>* own_;
  std::uint64_t posts_ = 0;
};

}  // namespace steadfold::transport
