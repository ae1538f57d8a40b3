// Tracks which parts of a range are free. Cost: O(parts). `take` returns the first part that is large enough.
#pragma once

#include <cstdint>
#include <iterator>
#include <map>
#include <new>
#include <optional>
#include <utility>

namespace steadfold::transport {

/// The free parts of a range, in units of any size. Use the object from one thread at a time. If memory for the list
/// runs out, a part that is given back is lost.
class FreeParts {
 public:
  explicit FreeParts(std::uint64_t count) {
    if (count > 0) parts_[0] = count;
  }

  /// Takes `count` contiguous units and returns the number of the first unit.
  std::optional<std::uint64_t> take(std::uint64_t count) noexcept {
    for (auto part = parts_.begin(); part != parts_.end(); ++part) {
      const auto [first, all] = *part;
      if (all < count) continue;
      auto node = parts_.extract(part);
      if (all > count) put(std::move(node), first + count, all - count);
      return first;
    }
    return std::nullopt;
  }

  void give_back(std::uint64_t first, std::uint64_t count) noexcept {
    const auto next = parts_.lower_bound(first);
    const bool touches_next = next != parts_.end() && next->first == first + count;
    if (next != parts_.begin()) {
      const auto before = std::prev(next);
      if (before->first + before->second == first) {
        before->second += count + (touches_next ? next->second : 0);
        if (touches_next) parts_.erase(next);
        return;
      }
    }
    if (touches_next) {
      const std::uint64_t all = count + next->second;
      return put(parts_.extract(next), first, all);
    }
    try {
      parts_.emplace(first, count);
    } catch (const std::bad_alloc&) {
    }
  }

 private:
  using Parts = std::map<std::uint64_t, std::uint64_t>;  // by the first unit of each free part: its number of units

  void put(Parts::node_type node, std::uint64_t first, std::uint64_t count) noexcept {
    node.key() = first;
    node.mapped() = count;
    parts_.insert(std::move(node));
  }

  Parts parts_;
};

}  // namespace steadfold::transport
