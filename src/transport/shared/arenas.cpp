#include "transport/shared/arenas.hpp"

#include <algorithm>
#include <exception>

namespace steadfold::transport {
namespace {

std::uint64_t digest_of(std::span<const InArena> ranks) noexcept {
  std::uint64_t digest = 1;
  for (const InArena& each : ranks) {
    const SharedFile& file = each.file.file;
    for (const std::uint64_t part : {static_cast<std::uint64_t>(file.process), static_cast<std::uint64_t>(file.number),
                                     static_cast<std::uint64_t>(file.device), each.file.bytes})
      digest = (digest ^ part) * 0x9E3779B97F4A7C15u + (digest >> 32);
  }
  return digest | 2;  // the number must be neither `untried` nor `failed`
}

}  // namespace

InArena Arenas::show(const std::byte* row, Bytes row_bytes, const std::byte* result,
                     Bytes result_bytes) const noexcept {
  const Arena* const arena = Arena::if_made();
  if (arena == nullptr) return {};
  const auto row_offset = arena->offset_of(row, row_bytes);
  const auto result_offset = arena->offset_of(result, result_bytes);
  if (!row_offset || !result_offset) return {};
  return {.row = *row_offset,
          .result = *result_offset,
          .file = arena->file(),
          .seen = seen_.load(std::memory_order_acquire)};
}

Arenas::Seen Arenas::are_seen(std::span<const InArena> ranks) noexcept {
  const auto is_shown = [](const InArena& each) { return each.file.bytes > 0; };
  if (!std::ranges::all_of(ranks, is_shown)) return Seen::not_by_all;
  if (std::ranges::find(ranks, untried, &InArena::seen) != ranks.end()) return Seen::untried;
  const std::uint64_t shown = digest_of(ranks);
  const auto sees_all = [&](const InArena& each) { return each.seen == shown; };
  return std::ranges::all_of(ranks, sees_all) ? Seen::by_all : Seen::not_by_all;
}

void Arenas::map(std::span<const InArena> ranks) noexcept {
  const std::lock_guard lock(mutex_);
  if (seen_.load(std::memory_order_relaxed) != untried) return;
  seen_.store(map_all(ranks) ? digest_of(ranks) : failed, std::memory_order_release);
}

bool Arenas::map_all(std::span<const InArena> ranks) noexcept {
  try {
    for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
      views_[rank] = ArenaView::of(ranks[rank].file);
      if (views_[rank] == nullptr) return false;
    }
  } catch (const std::exception&) {  // there is no memory for a view
    return false;
  }
  return true;
}

std::shared_ptr<Arenas> Transport::arenas() {
  if (arenas_ == nullptr) arenas_ = std::make_shared<Arenas>(rank_count());
  return arenas_;
}

}  // namespace steadfold::transport
