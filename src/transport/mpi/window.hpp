// A group's window: 64-bit words on every rank. All ranks of the group may write the words; each rank reads its own
// words.
// Cost: a write is one message, or stores where ranks share memory. Reading takes no message.
// Source: MPI's one-sided communication. Calls only PMPI_ names.
#pragma once

#include <mpi.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "transport/free_parts.hpp"
#include "transport/transport.hpp"

namespace steadfold::transport {

using Word = std::uint64_t;

/// How a rank reads the window: with MPI's atomic operations, or with plain loads. If ranks share memory, a load never
/// sees half of a write on the known machines. But this is a property of MPI libraries and processors, not a promise of
/// MPI.
enum class Reads : std::uint8_t { atomically, by_loads };

/// A window over MPI. Each word is written and read atomically; the words of one call in any order. Only `end` waits
/// for other ranks. Any thread may call the functions, if MPI was initialised for several threads.
class Window {
 public:
  /// Makes a window of `bytes` bytes per rank. Collective and blocking. Throws std::runtime_error on every rank if the
  /// window cannot be made.
  Window(MPI_Comm comm, Bytes bytes, Reads reads);
  ~Window() = default;
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;

  MPI_Comm comm() const noexcept { return comm_; }

  /// Takes `count` of this rank's words, sets them to zero, and returns the position of the first. Returns nothing if
  /// there is no room. Another rank may write these words only after a message has told it their position.
  std::optional<std::uint64_t> take(std::uint64_t count);
  void give_back(std::uint64_t first, std::uint64_t count) noexcept;

  /// Starts to write words to `target`. If one word is written several times, the writes arrive in the order of the
  /// calls. Returns MPI's error code.
  int write(std::span<const Word> words, Rank target, std::uint64_t first, MPI_Request& request) noexcept;
  /// Starts to read words of this rank.
  int read(std::span<Word> words, std::uint64_t first, MPI_Request& request) noexcept;
  /// Lets the MPI library deliver writes of other ranks: some libraries do so only within calls.
  void make_progress() noexcept;

  /// Count the users of the window. Each user calls `enter` and `leave` once, and `keep` once.
  void enter();
  void leave() noexcept { users_.fetch_sub(1, std::memory_order_relaxed); }
  /// Keeps the memory of open operations until they can no longer use it.
  void keep(std::vector<Word> memory) noexcept;

  /// Frees the window, unless a rank still uses it; then the window ends with MPI. Collective and blocking.
  void end();
  /// Whether the window has been freed. After that, do not read or write words.
  bool has_ended() const noexcept { return window_ == MPI_WIN_NULL; }

 private:
  friend void end_windows() noexcept;
  bool all(bool here) const noexcept;
  bool delivers() noexcept;
  void free() noexcept;

  MPI_Comm comm_ = MPI_COMM_NULL;
  MPI_Win window_ = MPI_WIN_NULL;
  Word* words_ = nullptr;
  Rank rank_ = 0;
  Rank rank_count_ = 0;
  Reads reads_;
  std::pair<int, std::uint64_t> number_;  // number of the window, equal on all ranks and unique to this window
  std::atomic<int> users_ = 0;
  std::mutex mutex_;           // guards the following members
  FreeParts free_;             // the free words
  std::size_t most_kept_ = 0;  // largest number of vectors that `keep` may have to keep
  std::vector<std::vector<Word>> kept_;
};

/// Makes a window. The window is freed when MPI ends, or earlier. Collective.
std::shared_ptr<Window> make_window(MPI_Comm comm, Bytes bytes, Reads reads);

/// Frees all remaining windows, in the same order on every rank, when MPI_Finalize begins. Collective over all ranks.
void end_windows() noexcept;

}  // namespace steadfold::transport
