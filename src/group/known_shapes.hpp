// The shapes of earlier one-shot calls of a group. Cost: a look-up compares the call with each shape. The comparison
// begins with the shape that was used last.
#pragma once

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "group/handshake.hpp"
#include "group/shape.hpp"

namespace steadfold::group {

struct KnownShape : Shape {
  KnownShape(const Description& given, const Call& call)
      : Shape(given, call),
        digest(digest_of(given)),
        bytes_of_none(kind->capacity({})),
        bytes_of_a_node(kind->capacity(order::IntervalSet({0, 1})) - bytes_of_none) {}

  /// Returns whether the largest possible partial of these rows fits the handshake. If it does not fit, no partial is
  /// built for the handshake.
  bool fits_handshake(std::span<const order::Interval> intervals) const {
    constexpr order::Bytes room = Handshake::capacity - Handshake::prefix;
    order::Bytes bytes = bytes_of_none;
    if (bytes_of_a_node == 0) return bytes <= room;
    for (const auto interval : intervals) {
      if (interval.empty()) continue;
      bytes += bytes_of_a_node * kind->most_values(interval);
      if (bytes > room) return false;
    }
    return bytes <= room;
  }

  std::uint64_t digest;
  order::Bytes bytes_of_none;    // bytes of a partial that has no rows
  order::Bytes bytes_of_a_node;  // the most bytes that a node of the tree can add to a partial
  std::size_t calls_under_way = 0;
};

/// Keeps a shape in the list as long as a call uses it, whatever shapes other calls look up.
class ShapeInUse {
 public:
  ShapeInUse() = default;
  explicit ShapeInUse(KnownShape& shape) noexcept : shape_(&shape) { shape_->calls_under_way += 1; }
  ShapeInUse(ShapeInUse&& other) noexcept : shape_(std::exchange(other.shape_, nullptr)) {}
  ShapeInUse& operator=(ShapeInUse&& other) noexcept {
    std::swap(shape_, other.shape_);
    return *this;
  }
  ~ShapeInUse() {
    if (shape_ != nullptr) shape_->calls_under_way -= 1;
  }
  KnownShape* get() const noexcept { return shape_; }
  KnownShape* operator->() const noexcept { return shape_; }
  explicit operator bool() const noexcept { return shape_ != nullptr; }

 private:
  KnownShape* shape_ = nullptr;
};

class KnownShapes {
 public:
  ShapeInUse of(const Call& call, const Description& description) {
    const auto found = std::ranges::find_if(shapes_, [&](const auto& s) { return s->description == description; });
    if (found != shapes_.end()) {
      std::rotate(shapes_.begin(), found, std::next(found));  // the list begins with the shape that was used last
      return ShapeInUse(*shapes_.front());
    }
    auto shape = std::make_unique<KnownShape>(description, call);
    const auto is_idle = [](const auto& s) { return s->calls_under_way == 0; };
    const auto oldest = std::find_if(shapes_.rbegin(), shapes_.rend(), is_idle);
    if (shapes_.size() >= most && oldest != shapes_.rend()) shapes_.erase(std::next(oldest).base());
    shapes_.insert(shapes_.begin(), std::move(shape));
    return ShapeInUse(*shapes_.front());
  }

 private:
  // Largest number of kept shapes; there may be more while calls use all of them.
  static constexpr std::size_t most = 64;
  std::vector<std::unique_ptr<KnownShape>> shapes_;  // the shape that was used last comes first
};

}  // namespace steadfold::group
