// The tags of a group: handed out in turn, and once all were, again where no rank holds them any more.
// Rank order: not concerned. Cost: O(log held) a tag; one exchange each time the tags come to their end. Source: ours.
#pragma once

#include <algorithm>
#include <cstdint>
#include <mutex>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace steadfold::transport {

/// The same on every rank but for what is held. Tags are taken by one thread at a time and given back by any.
class Tags {
 public:
  explicit Tags(std::uint32_t last) : last_(last) {}
  std::uint32_t last() const noexcept { return last_; }

  /// The first of the next `count` tags in a row that were not held anywhere when the tags last came to their end.
  std::optional<std::uint32_t> take(std::uint32_t count) {
    std::uint64_t first = next_;
    for (auto i = std::ranges::lower_bound(taken_, next_); i != taken_.end() && *i < first + count; ++i)
      first = std::uint64_t{*i} + 1;
    if (first + count > std::uint64_t{last_} + 1) return std::nullopt;
    next_ = static_cast<std::uint32_t>(first) + count;
    return static_cast<std::uint32_t>(first);
  }

  /// From the first tag on again; `taken` are those that any rank holds.
  void start_over(std::vector<std::uint32_t> taken) {
    taken_ = std::move(taken);
    std::ranges::sort(taken_);
    next_ = 0;
  }

  /// What this rank's endpoints hold.
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
  mutable std::mutex mutex_;  // of what follows
  std::multiset<std::uint32_t> held_;
};

/// A tag that an endpoint holds for as long as it lives, or for ever.
class HeldTag {
 public:
  HeldTag(Tags& tags, std::uint32_t tag) : tags_(&tags), tag_(tag) { tags.hold(tag); }
  HeldTag(HeldTag&& other) noexcept : tags_(std::exchange(other.tags_, nullptr)), tag_(other.tag_) {}
  HeldTag& operator=(HeldTag&&) = delete;
  ~HeldTag() {
    if (tags_ != nullptr) tags_->give_back(tag_);
  }
  int number() const noexcept { return static_cast<int>(tag_); }
  void keep() noexcept { tags_ = nullptr; }

 private:
  Tags* tags_;
  std::uint32_t tag_;
};

}  // namespace steadfold::transport
