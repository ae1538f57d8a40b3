// Copies of long posts: the bytes and no others, seen in order by another thread, and by what their choice goes.
#include "transport/shared/post_copier.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <random>
#include <thread>
#include <vector>

#include "support/sanitized.hpp"

namespace steadfold::transport::post_copier_test {
namespace {

using std::chrono::nanoseconds;

struct alignas(cache_line) Line {
  std::byte bytes[cache_line];
};

std::vector<std::byte> random_bytes(std::size_t size, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::byte> bytes(size);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
  return bytes;
}

/// What stands in memory that had `before` everywhere, once `copy` has put the bytes behind `skipped` there.
template <class Copy>
void expect_copied(const Copy& copy, const std::vector<std::byte>& from, std::size_t skipped) {
  const Bytes bytes = from.size() - skipped;
  constexpr std::byte before{0x5a};
  std::vector<Line> room(bytes / cache_line + 2, Line{});
  std::byte* const to = room.front().bytes;
  const Bytes room_bytes = room.size() * cache_line;
  std::fill(to, to + room_bytes, before);
  copy(to, from.data() + skipped, bytes);
  EXPECT_TRUE(std::equal(from.begin() + static_cast<std::ptrdiff_t>(skipped), from.end(), to)) << bytes;
  EXPECT_EQ(std::count(to + bytes, to + room_bytes, before), static_cast<std::ptrdiff_t>(room_bytes - bytes)) << bytes;
}

TEST(PostCopier, CopiesTheseBytesAndNoOthers) {
  const std::uint64_t seed = std::random_device()();
  std::cout << "seed " << seed << "\n";
  PostCopier copier;
  for (const std::size_t size : {1, 63, 64, 65, 128, 1000, 4095, 4096, 4097, 16383, 16384, 16385, 70001}) {
    for (const std::size_t skipped : {0, 1, 8, 63}) {
      if (skipped >= size) continue;
      const std::vector<std::byte> from = random_bytes(size, seed + size);
      expect_copied(PostCopier::stream, from, skipped);
      for (int again = 0; again < 12; ++again)  // with a look and without
        expect_copied([&copier, again](std::byte* to, const std::byte* of,
                                       Bytes bytes) { copier.copy(to, of, bytes, again > 0); },
                      from, skipped);
    }
  }
}

TEST(PostCopier, GoesByTheTimeOfALine) {
  constexpr Bytes lines = 256;
  for (const bool before : {false, true}) {
    EXPECT_FALSE(PostCopier::is_slow(nanoseconds(lines * 7), lines * cache_line, before));
    EXPECT_TRUE(PostCopier::is_slow(nanoseconds(lines * 26), lines * cache_line, before));
    EXPECT_EQ(PostCopier::is_slow(nanoseconds(lines * 1000), lines * cache_line, before), before);
  }
}

/// What another thread reads behind a flag is what was streamed before it.
TEST(PostCopier, AnotherThreadSeesAllOfIt) {
  constexpr std::size_t words = 1024;
  constexpr std::uint64_t rounds = test::sanitized ? 300 : 2000;
  std::vector<Line> room(words * sizeof(std::uint64_t) / cache_line);
  std::byte* const place = room.front().bytes;
  std::atomic<std::uint64_t> posted{0};
  std::atomic<std::uint64_t> read{0};
  std::thread writer([&] {
    std::vector<std::uint64_t> post(words);
    for (std::uint64_t round = 1; round <= rounds; ++round) {
      std::fill(post.begin(), post.end(), round);
      while (read.load(std::memory_order_acquire) != round - 1) std::this_thread::yield();
      PostCopier::stream(place, reinterpret_cast<const std::byte*>(post.data()), words * sizeof(std::uint64_t));
      posted.store(round, std::memory_order_release);
    }
  });
  std::uint64_t stale = 0;
  for (std::uint64_t round = 1; round <= rounds; ++round) {
    while (posted.load(std::memory_order_acquire) != round) std::this_thread::yield();
    for (std::size_t i = words; i-- > 0;) stale += reinterpret_cast<const std::uint64_t*>(place)[i] != round ? 1U : 0U;
    read.store(round, std::memory_order_release);
  }
  writer.join();
  EXPECT_EQ(stale, 0U);
}

}  // namespace
}  // namespace steadfold::transport::post_copier_test
