// What ranks tell each other when they set something up: each its own bytes, or that its memory ran out.
// Cost: one byte more.
#pragma once

#include <cstddef>
#include <new>
#include <span>
#include <string>
#include <vector>

#include "agreement/failure.hpp"
#include "transport/transport.hpp"

namespace steadfold::session {

/// What this rank tells the others: what `made()` gives, and a byte. No byte at all where memory runs out.
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

/// What every rank told, by rank. Throws the same Failure on every rank if one had no memory.
inline std::vector<std::span<const std::byte>> parts_of(const transport::Transport::Gathered& gathered) {
  std::vector<std::span<const std::byte>> parts;
  for (std::size_t rank = 0; rank + 1 < gathered.first.size(); ++rank) {
    const auto told = gathered.of(static_cast<order::Rank>(rank));
    if (told.empty())
      throw agreement::Failure(Status::internal,
                               "rank " + std::to_string(rank) + ": " + agreement::text_of(std::bad_alloc()));
    parts.push_back(told.first(told.size() - 1));
  }
  return parts;
}

}  // namespace steadfold::session
