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

/// How a rank reads the window: atomically, as MPI guarantees, or with plain loads. If ranks share memory, a load never
/// sees half of a write on the known machines. But this is a property of MPI libraries and processors, not a promise of
/// MPI.
enum class Reads : std::uint8_t { atomically, by_loads };

/// Words are written and read one by one, atomically; the words of one call in any order. Only the end of the window
/// waits for other ranks. Any thread may call it, if MPI was initialised for several threads.
class Window {
 public:
  /// Collective, blocks. `bytes` per rank. Throws std::runtime_error on every rank if there is no window.
  Window(MPI_Comm comm, Bytes bytes, Reads reads);
  ~Window() = default;
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;

  MPI_Comm comm() const noexcept { return comm_; }

  /// Takes `count` of this rank's words and sets them to zero; nothing if there is no room. Another rank may write them
  /// only after a message has told it of them.
  std::optional<std::uint64_t> take(std::uint64_t count);
  void give_back(std::uint64_t first, std::uint64_t count) noexcept;

  /// Starts to write to `target`; later writes of one word arrive later. Returns MPI's error code.
  int write(std::span<const Word> words, Rank target, std::uint64_t first, MPI_Request& request) noexcept;
  /// Starts to read this rank's own words.
  int read(std::span<Word> words, std::uint64_t first, MPI_Request& request) noexcept;
  /// Lets the MPI library deliver writes of other ranks: some libraries do so only within calls.
  void make_progress() noexcept;

  /// Counts the users of the window. Each user enters and leaves once, and calls keep() once.
  void enter();
  void leave() noexcept { users_.fetch_sub(1, std::memory_order_relaxed); }
  /// Keeps the memory of open operations, if there is any, until they can no longer use it.
  void keep(std::vector<Word> memory) noexcept;

  /// Collective, blocks. Frees the window, unless it has users on some rank; then it ends with MPI.
  void end();
  /// Whether it has been freed. Then do not read or write.
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
  std::pair<int, std::uint64_t> number_;  // equal on all ranks and unique to this window
  std::atomic<int> users_ = 0;
  std::mutex mutex_;           // guards the following members
  FreeParts free_;             // in words
  std::size_t most_kept_ = 0;  // the most vectors to keep
  std::vector<std::vector<Word>> kept_;
};

/// Makes a window that ends with MPI at the latest. Collective.
std::shared_ptr<Window> make_window(MPI_Comm comm, Bytes bytes, Reads reads);

/// Frees all remaining windows, in the same order on every rank, when MPI_Finalize begins. Collective over all ranks.
void end_windows() noexcept;

}  // namespace steadfold::transport
