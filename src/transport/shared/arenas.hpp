// The arenas of all ranks of a transport, as this rank sees them: one for all plans, so only the first one that uses
// memory of the library maps it, and its pages stay found.
// Rank order: not concerned. Cost: mapping touches no pages.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "transport/shared/arena.hpp"
#include "transport/transport.hpp"

namespace steadfold::transport {

/// What a rank says of its row and result, if it has taken both from the library.
struct InArena {
  Bytes row = 0;  // where they are in the file
  Bytes result = 0;
  ArenaFile file;          // of no bytes: it has not
  std::uint64_t seen = 0;  // a digest of the files of all ranks, if it has mapped them; else `untried` or `failed`
};

/// Any thread may call it.
class Arenas {
 public:
  static constexpr std::uint64_t untried = 0;
  static constexpr std::uint64_t failed = 1;
  enum class Seen : std::uint8_t { by_all, not_by_all, untried };

  explicit Arenas(Rank rank_count) : views_(static_cast<std::size_t>(rank_count)) {}

  InArena show(const std::byte* row, Bytes row_bytes, const std::byte* result, Bytes result_bytes) const noexcept;

  /// Whether every rank sees what all of them show now, as all of them find out. `untried`: all show something, and
  /// some rank has not tried to map it.
  static Seen are_seen(std::span<const InArena> ranks) noexcept;

  /// Maps what the ranks show, for good: an arena is there until its process ends. Where something cannot be mapped,
  /// this rank says so from now on.
  void map(std::span<const InArena> ranks) noexcept;

  /// In another rank's arena, which is mapped.
  std::byte* at(std::size_t rank, Bytes place) const noexcept { return views_[rank]->at(place); }

 private:
  bool map_all(std::span<const InArena> ranks) noexcept;

  std::mutex mutex_;
  std::vector<std::shared_ptr<const ArenaView>> views_;  // by rank; written before `seen_` is
  std::atomic<std::uint64_t> seen_ = untried;
};

}  // namespace steadfold::transport
