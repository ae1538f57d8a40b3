#include "transport/shared/arena.hpp"

#include <atomic>
#include <utility>
#include <vector>

namespace steadfold::transport {
namespace {

Bytes machine_bytes() noexcept {
  const auto pages = sysconf(_SC_PHYS_PAGES);
  const auto page = sysconf(_SC_PAGESIZE);
  return pages > 0 && page > 0 ? static_cast<Bytes>(pages) * static_cast<Bytes>(page) : 0;
}

std::atomic<Arena*>& made() noexcept {
  static std::atomic<Arena*> arena = nullptr;
  return arena;
}

}  // namespace

/// Returns the arena of this process. A child of fork sees its parent's arena, but takes memory from another arena.
/// Both arenas exist until the process ends.
Arena& Arena::own() {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  Arena* const found = made().load(std::memory_order_relaxed);
  if (found != nullptr && found->file().file.process == getpid()) return *found;
  auto* const arena = new Arena(machine_bytes(), found);
  made().store(arena, std::memory_order_release);
  return *arena;
}

Arena* Arena::if_made() noexcept { return made().load(std::memory_order_acquire); }

bool Arena::free(std::byte* memory) noexcept {
  for (Arena* arena = if_made(); arena != nullptr; arena = arena->before_) {
    if (!arena->offset_of(memory, 0)) continue;
    if (arena->file().file.process == getpid()) arena->give_back(memory);
    return true;
  }
  return false;
}

Arena::Arena(Bytes bytes, Arena* before) : before_(before), free_(bytes / page) {
  file_ = {.file = make_shared_file(bytes), .bytes = bytes};
  base_ = mapped(file_.file, true, bytes);
}

Arena::~Arena() {
  if (base_ != nullptr) munmap(base_, file_.bytes);
  if (file_.file.descriptor >= 0) close(file_.file.descriptor);
}

std::byte* Arena::take(Bytes bytes) {
  const Bytes pages = bytes / page + 1;  // one more page separates blocks, and gives an address to a block of 0 bytes
  if (base_ == nullptr || bytes > file_.bytes) return nullptr;
  const std::lock_guard lock(mutex_);
  const auto first = free_.take(pages);
  if (!first) return nullptr;
  taken_.emplace(*first, pages);
  return base_ + *first * page;
}

/// Returns the pages to the system, so that the next caller of `take` finds zeros.
bool Arena::give_back(std::byte* memory) noexcept {
  const auto offset = offset_of(memory, 0);
  if (!offset) return false;
  const std::lock_guard lock(mutex_);
  const auto found = taken_.find(*offset / page);
  if (*offset % page != 0 || found == taken_.end()) return false;
  const auto [first, pages] = *found;
  taken_.erase(found);
  fallocate(file_.file.descriptor, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(first * page),
            static_cast<off_t>(pages * page));
  free_.give_back(first, pages);
  return true;
}

std::optional<Bytes> Arena::offset_of(const std::byte* memory, Bytes bytes) const noexcept {
  const auto offset = reinterpret_cast<std::uintptr_t>(memory) - reinterpret_cast<std::uintptr_t>(base_);
  if (base_ == nullptr || offset >= file_.bytes || bytes > file_.bytes - offset) return std::nullopt;
  return offset;
}

std::shared_ptr<const ArenaView> ArenaView::of(const ArenaFile& file) {
  static std::mutex mutex;
  // Never destroyed, because destructors of other objects may use it.
  static auto& views = *new std::vector<std::weak_ptr<const ArenaView>>;
  const std::lock_guard lock(mutex);
  std::erase_if(views, [](const auto& view) { return view.expired(); });
  for (const auto& view : views)
    if (auto found = view.lock(); found && found->file() == file) return found;
  const Arena* const arena = Arena::if_made();
  const bool is_own = arena != nullptr && arena->file() == file;
  std::byte* const base = is_own ? arena->base() : mapped(file.file, false, file.bytes);
  if (base == nullptr) return nullptr;
  auto view = std::make_shared<const ArenaView>(file, base, is_own);
  views.push_back(view);
  return view;
}

ArenaView::~ArenaView() {
  if (!is_own_) munmap(base_, file_.bytes);
}

}  // namespace steadfold::transport
