// Message tags that all ranks of a transport hand out in the same order. Cost: that of Tags. When the tags run out, the
// ranks make one exchange, in which each rank tells which tags it still holds.
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "transport/tags.hpp"
#include "transport/transport.hpp"

namespace steadfold::transport {

/// Hands out tags that are equal on all ranks. One thread at a time may take tags; any thread may give them back.
class AgreedTags {
 public:
  explicit AgreedTags(std::uint32_t last) : tags_(last) {}

  /// Takes `count` contiguous tags; see Transport::new_tags. May gather over `ranks`.
  std::optional<std::uint32_t> take(Transport& ranks, std::uint32_t count) {
    if (!is_renewing_) {
      if (const auto first = tags_.take(count)) return first;
      held_ = tags_.held();
      ranks.gather(std::as_bytes(std::span(held_)));
      is_renewing_ = true;
    }
    const auto all = ranks.gathered();
    if (!all) return std::nullopt;
    is_renewing_ = false;
    std::vector<std::uint32_t> held(all->bytes.size() / sizeof(std::uint32_t));
    if (!held.empty()) std::memcpy(held.data(), all->bytes.data(), all->bytes.size());
    tags_.start_over(std::move(held));
    const auto first = tags_.take(count);
    if (!first)
      throw std::runtime_error(
          "all message tags are in use (existing plans use all " + std::to_string(tags_.last() + 1) +
          " tags of the MPI library), free plans, or bind plans on a duplicate of the communicator or on another team");
    return first;
  }

  /// Holds a tag for an endpoint. Throws std::runtime_error if the tag does not exist.
  HeldTag hold(std::uint32_t tag) {
    if (tag > tags_.last())
      throw std::runtime_error("no endpoint can be opened with tag " + std::to_string(tag) +
                               " (the MPI library's tags end at " + std::to_string(tags_.last()) +
                               "), free plans that are no longer used");
    return {tags_, tag};
  }

 private:
  Tags tags_;
  std::vector<std::uint32_t> held_;  // tags that this rank holds, while the ranks exchange them
  bool is_renewing_ = false;
};

}  // namespace steadfold::transport
