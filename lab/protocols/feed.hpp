// A feed: one worker writes, many read the same line. Receiver-driven: readers say that they have read.
// Cost: per message one line that all readers share, and one addition per reader to a count that only the writer reads.
// Source: [S2], simple data exchange approaches (good for one to many).
//
// There is a count per box, since a fast reader may already say that it has read the next box while slow ones are still
// at this one: one count of all would take that for the slow ones' word.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "transport/shared/flags.hpp"

namespace steadfold::transport {

/// How often readers have said that they read one box, since ever.
template <class Memory>
struct alignas(cache_line) ReadCount {
  typename Memory::Counter reads{0};
};

/// Modulo `depth`, as lanes are. With `counts` 1, which tests show to be too few, all boxes share one count.
template <class Memory, class Content, std::size_t depth, std::size_t counts = depth>
struct Feed {
  std::array<Box<Memory, Content>, depth> boxes;
  std::array<ReadCount<Memory>, counts> read;
};

template <class Memory, class Content, std::size_t depth, std::size_t counts = depth>
class FeedWriter {
 public:
  explicit FeedWriter(Feed<Memory, Content, depth, counts>& feed) noexcept : feed_(&feed) {}

  /// Whether the next message may be written now: all readers have read what stood there.
  bool has_room() const noexcept {
    return feed_->read[sent_ % counts].reads.load(Memory::take_back) >= awaited_[sent_ % depth];
  }
  /// Where it is written.
  Content& next() noexcept { return feed_->boxes[sent_ % depth].content; }
  /// To so many readers, each of whom reads it once. It may be others, and another number, each time.
  void send(std::size_t readers) noexcept {
    const std::uint64_t box = sent_ % depth;
    // Those of one count: this box's alone, if there is one for each.
    awaited_[box] = counted_[sent_ % counts] += readers;
    feed_->boxes[box].number.store(sent_ + 1, Memory::announce);
    sent_ += 1;
  }

 private:
  Feed<Memory, Content, depth, counts>* feed_;
  std::uint64_t sent_ = 0;
  std::array<std::uint64_t, counts> counted_{};  // reads of all messages so far
  std::array<std::uint64_t, depth> awaited_{};   // before a box may be written again
};

template <class Memory, class Content, std::size_t depth, std::size_t counts = depth>
class FeedReader {
 public:
  explicit FeedReader(Feed<Memory, Content, depth, counts>& feed) noexcept : feed_(&feed) {}

  /// The next message, if it has come.
  const Content* look() const noexcept {
    const auto& box = feed_->boxes[passed_ % depth];
    return box.number.load(Memory::expect) == passed_ + 1 ? &box.content : nullptr;
  }
  /// The writer may write over it, as far as this reader is concerned.
  void take() noexcept {
    feed_->read[passed_ % counts].reads.fetch_add(1, Memory::give_back);
    passed_ += 1;
  }
  /// The next message is for others.
  void skip() noexcept { passed_ += 1; }

 private:
  Feed<Memory, Content, depth, counts>* feed_;
  std::uint64_t passed_ = 0;
};

}  // namespace steadfold::transport
