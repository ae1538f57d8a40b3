// Copies long posts in the faster of two ways: into this core's cache, or past all caches (with streaming stores).
//
// Other cores have read the previous post in the same memory, so each cache line must be taken from them before it is
// written. On an EPYC (Zen 4) this takes about 7 ns per line between cores that share a cache, and 26 ns between other
// cores. Reading a line that another core wrote takes 2 ns and 5 ns in these cases. Past the caches, writing takes 2 to
// 5 ns and reading from memory takes 5 ns. Virtual machines do not report which cores share a cache, and the cores of a
// thread may change. So a copier measures the time of its copies.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>

#include "transport/shared/flags.hpp"
#include "transport/transport.hpp"

namespace steadfold::transport {

/// The copier of a process for copies to the same neighbours, with its measurements. Any thread may copy at any time.
class PostCopier {
 public:
  /// Copies bytes. `was_read` says that other ranks have read the bytes at `to`. `to` is aligned to a cache line. If
  /// the caller posts a flag afterwards, the flag becomes visible after these bytes.
  void copy(std::byte* to, const std::byte* from, Bytes bytes, bool was_read) noexcept;

  /// Copies past the caches, if the processor can do so.
  static void stream(std::byte* to, const std::byte* from, Bytes bytes) noexcept;
  /// Whether copies like this timed copy are faster past the caches. If the copy took much longer, another program
  /// probably had the core; then the result is `before`.
  static bool is_slow(std::chrono::nanoseconds taken, Bytes bytes, bool before) noexcept;

 private:
  using Clock = std::chrono::steady_clock;
  // Bytes between measurements; copying them takes a hundred times as long as reading the clock.
  static constexpr Bytes bytes_per_look = 64 << 10;

  bool is_to_look(Bytes bytes) noexcept;
  void look(std::byte* to, const std::byte* from, Bytes bytes) noexcept;

  std::atomic<bool> streams_{false};
  // Bytes copied since the last measurement, while the copier does not stream.
  std::atomic<Bytes> copied_{bytes_per_look};
  std::atomic<Clock::rep> looked_{0};
};

}  // namespace steadfold::transport
