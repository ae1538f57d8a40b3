// The message tags of a group. Tags are handed out in turn. After the last tag, the tags that no rank holds are handed
// out again.
// Cost: O(log n) per tag, with n held tags, and one exchange each time the tags run out.
#pragma once

#include <algorithm>
#include <cstdint>
#include <mutex>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace steadfold::transport {

/// Hands out the tags of a group. The objects are equal on every rank, except for the held tags. One thread at a time
/// may take tags; any thread may give them back.
class Tags {
 public:
  explicit Tags(std::uint32_t last) : last_(last) {}
  std::uint32_t last() const noexcept { return last_; }

  /// Takes `count` contiguous tags that no rank held when the tags last ran out. Returns the first tag, or nothing if
  /// there are not enough tags.
  std::optional<std::uint32_t> take(std::uint32_t count) {
    std::uint64_t first = next_;
    for (auto i = std::ranges::lower_bound(taken_, next_); i != taken_.end() && *i < first + count; ++i)
      first = std::uint64_t{*i} + 1;
    if (first + count > std::uint64_t{last_} + 1) return std::nullopt;
    next_ = static_cast<std::uint32_t>(first) + count;
    return static_cast<std::uint32_t>(first);
  }

  /// Starts again from the first tag; `taken` are the tags that any rank holds.
  void start_over(std::vector<std::uint32_t> taken) {
    taken_ = std::move(taken);
    std::ranges::sort(taken_);
    next_ = 0;
  }

  /// Returns the tags that this rank's endpoints hold.
  std::vector<std::uint32_t> held() const {
    const std::lock_guard lock(mutex_);
    return {held_.begin(), held_.end()};
  }
  void hold(std::uint32_t tag) {
    const std::lock_guard lock(mutex_);
    held_.insert(tag);
  }
  void give_back(std::uint32_t tag) noexcept {
    const std::lock_guard lock(mutex_);
    const auto found = held_.find(tag);
    if (found != held_.end()) held_.erase(found);
  }

 private:
  std::uint32_t last_;
  std::uint32_t next_ = 0;
  std::vector<std::uint32_t> taken_;
  mutable std::mutex mutex_;  // guards held_
  std::multiset<std::uint32_t> held_;
};

/// A tag that an endpoint holds until it is destroyed, or forever.
class HeldTag {
 public:
  HeldTag(Tags& tags, std::uint32_t tag) : tags_(&tags), tag_(tag) { tags.hold(tag); }
  HeldTag(HeldTag&& other) noexcept : tags_(std::exchange(other.tags_, nullptr)), tag_(other.tag_) {}
  HeldTag& operator=(HeldTag&&) = delete;
  ~HeldTag() {
    if (tags_ != nullptr) tags_->give_back(tag_);
  }
  int number() const noexcept { return static_cast<int>(tag_); }
  void never_give_back() noexcept { tags_ = nullptr; }

 private:
  Tags* tags_;
  std::uint32_t tag_;
};

}  // namespace steadfold::transport
