// This rank's view of all ranks' arenas. All plans of a transport share it, so only the first plan that uses memory of
// the library maps the arenas.
// Cost: mapping touches no pages.
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

/// A rank's description of its row and result, if both are in its arena.
struct InArena {
  Bytes row = 0;  // position of the row in the file
  Bytes result = 0;
  ArenaFile file;          // the file; 0 bytes long if the row or the result is not in the arena
  std::uint64_t seen = 0;  // a digest of all ranks' files if this rank has mapped them; else `untried` or `failed`
};

/// The arenas of all ranks. Any thread may call the functions.
class Arenas {
 public:
  static constexpr std::uint64_t untried = 0;
  static constexpr std::uint64_t failed = 1;
  enum class Seen : std::uint8_t { by_all, not_by_all, untried };

  explicit Arenas(Rank rank_count) : views_(static_cast<std::size_t>(rank_count)) {}

  InArena show(const std::byte* row, Bytes row_bytes, const std::byte* result, Bytes result_bytes) const noexcept;

  /// Whether every rank has mapped all arenas that the ranks show now. The result is equal on all ranks. `untried`: all
  /// ranks show an arena, and at least one rank has not tried to map them.
  static Seen are_seen(std::span<const InArena> ranks) noexcept;

  /// Maps the arenas that the ranks show, for as long as this object lives. If an arena cannot be mapped, this rank
  /// reports `failed` from now on.
  void map(std::span<const InArena> ranks) noexcept;

  /// Returns an address in another rank's arena, which must be mapped.
  std::byte* at(std::size_t rank, Bytes offset) const noexcept { return views_[rank]->at(offset); }

 private:
  bool map_all(std::span<const InArena> ranks) noexcept;

  std::mutex mutex_;
  std::vector<std::shared_ptr<const ArenaView>> views_;  // views of the arenas, by rank; written before `seen_`
  std::atomic<std::uint64_t> seen_ = untried;
};

}  // namespace steadfold::transport
