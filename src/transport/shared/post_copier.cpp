#include "transport/shared/post_copier.hpp"

#include <algorithm>
#include <cstring>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace steadfold::transport {
namespace {

constexpr auto relaxed = std::memory_order_relaxed;
#ifdef __SSE2__
constexpr bool can_stream = true;
#else
constexpr bool can_stream = false;  // without streaming stores, all copies go into the cache
#endif
constexpr Bytes least_bytes = 4096;    // bytes; shorter copies fit into a core's store buffer
constexpr Bytes looked_at = 16 << 10;  // largest number of bytes of a copy that are timed
// Time between two measurements while copies go past the caches.
constexpr auto time_per_look = std::chrono::milliseconds(10);
// Nanoseconds per cache line above which a copy is slow; a value between 7 and 26.
constexpr double slow_line = 13;
constexpr double interrupted_line = 200;

}  // namespace

bool PostCopier::is_slow(std::chrono::nanoseconds taken, Bytes bytes, bool before) noexcept {
  const double line = static_cast<double>(taken.count()) * static_cast<double>(cache_line) / static_cast<double>(bytes);
  return line > interrupted_line ? before : line > slow_line;
}

void PostCopier::stream(std::byte* to, const std::byte* from, Bytes bytes) noexcept {
  Bytes done = 0;
#ifdef __SSE2__
  constexpr Bytes width = sizeof(__m128i);
  for (; done + cache_line <= bytes; done += cache_line) {
    for (Bytes at = done; at < done + cache_line; at += width)
      _mm_stream_si128(reinterpret_cast<__m128i*>(to + at),
                       _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + at)));
  }
  _mm_sfence();  // no later store becomes visible before the streaming stores
#endif
  if (done < bytes) std::memcpy(to + done, from + done, bytes - done);
}

bool PostCopier::is_to_look(Bytes bytes) noexcept {
  if (streams_.load(relaxed))
    return Clock::now() - Clock::time_point(Clock::duration(looked_.load(relaxed))) > time_per_look;
  const Bytes copied = copied_.load(relaxed);
  const bool is_time = copied >= bytes_per_look;
  copied_.store(is_time ? 0 : copied + bytes, relaxed);
  return is_time;
}

void PostCopier::look(std::byte* to, const std::byte* from, Bytes bytes) noexcept {
  // Reads the bytes first, because the time of reading must not be measured.
  for (Bytes at = 0; at < bytes; at += cache_line)
    static_cast<void>(*static_cast<const volatile std::byte*>(from + at));
  const Clock::time_point begin = Clock::now();
  std::memcpy(to, from, bytes);
  const Clock::time_point end = Clock::now();
  looked_.store(end.time_since_epoch().count(), relaxed);
  streams_.store(is_slow(end - begin, bytes, streams_.load(relaxed)), relaxed);
}

void PostCopier::copy(std::byte* to, const std::byte* from, Bytes bytes, bool was_read) noexcept {
  Bytes done = 0;
  if (can_stream && bytes >= least_bytes) {
    if (was_read && is_to_look(bytes)) look(to, from, done = std::min(bytes, looked_at));
    if (streams_.load(relaxed)) return stream(to + done, from + done, bytes - done);
  }
  if (done < bytes) std::memcpy(to + done, from + done, bytes - done);
}

}  // namespace steadfold::transport
