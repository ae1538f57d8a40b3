// Which parts of a window are free.
// Cost: O(parts). Source: ours; first fit.
#pragma once

#include <cstdint>
#include <iterator>
#include <map>
#include <optional>

namespace steadfold::transport {

/// Numbers of units, of whatever size. One thread at a time. Running out of memory for the list ends the program.
class FreeParts {
 public:
  explicit FreeParts(std::uint64_t count) {
    if (count > 0) parts_[0] = count;
  }

  /// The first of `count` units in a row, which are free no more.
  std::optional<std::uint64_t> take(std::uint64_t count) noexcept {
    for (auto part = parts_.begin(); part != parts_.end(); ++part) {
      const auto [first, all] = *part;
      if (all < count) continue;
      if (all > count) parts_[first + count] = all - count;
      parts_.erase(first);
      return first;
    }
    return std::nullopt;
  }

  void give_back(std::uint64_t first, std::uint64_t count) noexcept {
    auto part = parts_.try_emplace(first, count).first;
    if (const auto next = std::next(part); next != parts_.end() && next->first == first + count) {
      part->second += next->second;
      parts_.erase(next);
    }
    if (part == parts_.begin()) return;
    if (const auto before = std::prev(part); before->first + before->second == first) {
      before->second += part->second;
      parts_.erase(part);
    }
  }

 private:
  std::map<std::uint64_t, std::uint64_t> parts_;  // first and count
};

}  // namespace steadfold::transport
