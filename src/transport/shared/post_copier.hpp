// Long posts are copied in one of two ways, whichever is fast here: into this core's cache, or past all caches.
//
// Other cores have read the last post that stood there, so each line has to be taken away from them before it is
// written. On an EPYC (Zen 4) this takes some 7 ns per line between cores that share a cache, and 26 between others;
// reading what another core wrote takes 2 and 5. Past the caches it is 2 to 5 ns to write and 5 to read, from memory.
// Which cores share a cache no virtual machine tells, and they may change, so a copier looks at the time of its copies.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>

#include "transport/shared/flags.hpp"
#include "transport/transport.hpp"

namespace steadfold::transport {

/// What a process has found out of its copies for the same neighbours. Any thread may copy at any time.
class PostCopier {
 public:
  /// `was_read`: others have read what stands there. `to` begins a cache line. What the caller posts after it is seen
  /// after these bytes.
  void copy(std::byte* to, const std::byte* from, Bytes bytes, bool was_read) noexcept;

  /// Past the caches, as far as this processor can.
  static void stream(std::byte* to, const std::byte* from, Bytes bytes) noexcept;
  /// Whether a copy that took so long is one to do past the caches. One that took much longer tells nothing, since
  /// something else had the core: then it is as `before`.
  static bool is_slow(std::chrono::nanoseconds taken, Bytes bytes, bool before) noexcept;

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr Bytes bytes_per_look = 64 << 10;  // which take a hundred times as long as a look at the clock

  bool is_to_look(Bytes bytes) noexcept;
  void look(std::byte* to, const std::byte* from, Bytes bytes) noexcept;

  std::atomic<bool> streams_{false};
  std::atomic<Bytes> copied_{bytes_per_look};  // since the last look, while it does not stream
  std::atomic<Clock::rep> looked_{0};
};

}  // namespace steadfold::transport
