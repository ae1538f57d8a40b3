// The shapes that one-shot calls of a group had.
// Cost: finding one is a comparison per shape, the last used first. Source: ours.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "execution/handshake.hpp"
#include "session/shape.hpp"

namespace steadfold::session {

struct KnownShape : Shape {
  KnownShape(const Description& given, const Call& call)
      : Shape(given, call),
        digest(digest_of(given)),
        bytes_of_none(kind->capacity({})),
        bytes_of_a_node(kind->capacity(order::IntervalSet({0, 1})) - bytes_of_none) {}

  /// Whether the largest partial that these rows can have fits the handshake, so that none is built in vain.
  bool fits_handshake(std::span<const order::Interval> intervals) const {
    constexpr order::Bytes room = execution::Handshake::capacity - execution::Handshake::prefix;
    order::Bytes bytes = bytes_of_none;
    for (const auto interval : intervals) {
      if (interval.empty()) continue;
      bytes += bytes_of_a_node * order::most_nodes(interval);
      if (bytes > room) return false;
    }
    return bytes <= room;
  }

  std::uint64_t digest;
  order::Bytes bytes_of_none;    // a partial of no rows, and
  order::Bytes bytes_of_a_node;  // what every node may add
};

/// A call under way keeps its shape, even if it is dropped here meanwhile.
class KnownShapes {
 public:
  std::shared_ptr<KnownShape> of(const Call& call, const Description& description) {
    const auto found = std::ranges::find_if(shapes_, [&](const auto& s) { return s->description == description; });
    if (found != shapes_.end()) {
      if (found != shapes_.begin()) std::iter_swap(found, shapes_.begin());
      return shapes_.front();
    }
    auto shape = std::make_shared<KnownShape>(description, call);
    if (shapes_.size() == most) shapes_.pop_back();
    shapes_.insert(shapes_.begin(), std::move(shape));
    return shapes_.front();
  }

 private:
  static constexpr std::size_t most = 64;
  std::vector<std::shared_ptr<KnownShape>> shapes_;  // the last used first
};

}  // namespace steadfold::session
