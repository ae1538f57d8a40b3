// The messages of a set-up: each rank sends its own bytes, or an empty message if its memory ran out. Cost: one
// additional byte per message.
#pragma once

#include <cstddef>
#include <new>
#include <span>
#include <string>
#include <vector>

#include "call/failure.hpp"
#include "transport/transport.hpp"

namespace steadfold::group {

/// Returns this rank's message: the bytes of `made()` and one additional byte. If memory runs out, the message is
/// empty.
template <class Made>
std::vector<std::byte> told_by(const Made& made) noexcept {
  try {
    const auto& what = made();
    const auto bytes = std::as_bytes(std::span(what));
    std::vector<std::byte> told;
    told.reserve(bytes.size() + 1);
    told.assign(bytes.begin(), bytes.end());
    told.push_back({});
    return told;
  } catch (const std::bad_alloc&) {
    return {};
  }
}

/// Returns the bytes that each rank sent, without the additional byte. Throws the same Failure on every rank if a
/// message is empty.
inline std::vector<std::span<const std::byte>> parts_of(const transport::Transport::Gathered& gathered) {
  std::vector<std::span<const std::byte>> parts;
  for (std::size_t rank = 0; rank + 1 < gathered.first.size(); ++rank) {
    const auto told = gathered.of(static_cast<order::Rank>(rank));
    if (told.empty())
      throw call::Failure(Status::internal, "rank " + std::to_string(rank) + ": " + call::text_of(std::bad_alloc()));
    parts.push_back(told.first(told.size() - 1));
  }
  return parts;
}

}  // namespace steadfold::group
