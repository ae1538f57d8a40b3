// A group's window: 64-bit words on every rank, which all ranks of the group may write and each reads on its own.
// Cost: a write is one message, or stores where ranks share memory; a read of one's own words takes no message.
// Source: MPI's one-sided communication. Calls PMPI_ names only.
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

/// How the window is read: as MPI promises, or by plain loads. No loads of a word see half of it on the machines that
/// we know, if ranks share memory; but that is a habit of MPI libraries and processors, not a promise of MPI.
enum class Reads : std::uint8_t { atomically, by_loads };

/// Words are written and read one by one, atomically; words of one call in any order. Nothing here waits for a target,
/// except the end. Any thread may call it, if MPI was initialised for that.
class Window {
 public:
  /// Collective, blocks. `bytes` per rank. Throws std::runtime_error on every rank if there is no window.
  Window(MPI_Comm comm, Bytes bytes, Reads reads);
  ~Window() = default;
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;

  MPI_Comm comm() const noexcept { return comm_; }

  /// Takes `count` words of this rank's, set to zero, if they are there. No rank may write them before it was told of
  /// them in a message.
  std::optional<std::uint64_t> take(std::uint64_t count);
  void give_back(std::uint64_t first, std::uint64_t count) noexcept;

  /// Starts writing to `target`; later writes of one word come later. Returns MPI's error code.
  int write(std::span<const Word> words, Rank target, std::uint64_t first, MPI_Request& request) noexcept;
  /// Starts reading this rank's own words.
  int read(std::span<Word> words, std::uint64_t first, MPI_Request& request) noexcept;
  /// Lets the MPI library deliver what others write: some do so only within calls.
  void make_progress() noexcept;

  /// Counts who still needs the window. Who enters leaves once, and has memory kept once.
  void enter();
  void leave() noexcept { users_.fetch_sub(1, std::memory_order_relaxed); }
  /// Keeps memory of operations under way, if any, until they can have no more effect.
  void keep(std::vector<Word> memory) noexcept;

  /// Collective, blocks: frees the window unless it has users on some rank. Else it ends with MPI.
  void end();
  /// Whether it has been freed: nothing may be read or written any more.
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
  std::pair<int, std::uint64_t> number_;  // equal on all ranks, and no other window's
  std::atomic<int> users_ = 0;
  std::mutex mutex_;           // guards what follows
  FreeParts free_;             // words
  std::size_t most_kept_ = 0;  // that there may be to keep
  std::vector<std::vector<Word>> kept_;
};

/// Makes a window that ends with MPI at the latest. Collective.
std::shared_ptr<Window> make_window(MPI_Comm comm, Bytes bytes, Reads reads);

/// Frees all windows that are left, in the same order on every rank: MPI_Finalize has begun. Collective over all ranks.
void end_windows() noexcept;

}  // namespace steadfold::transport
