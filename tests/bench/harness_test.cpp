#include "bench/harness.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "bench/fast_math.hpp"
#include "bench/read.hpp"

namespace steadfold::bench::harness_test {
namespace {

constexpr std::size_t candidate_count = 5;
constexpr int rounds = 60;

struct Interleaved {
  std::vector<std::size_t> order;  // of all calls
  std::vector<Samples> samples;
};

/// On a clock by which every sample takes a second, so that one call is enough.
Interleaved interleaved() {
  Interleaved result;
  std::vector<Candidate> candidates;
  for (std::size_t i = 0; i < candidate_count; ++i)
    candidates.push_back(
        {std::to_string(i), [i, &result](std::size_t calls) { result.order.insert(result.order.end(), calls, i); }});
  result.samples = interleave(candidates, rounds, {.barrier = [] {}, .greatest = [](double) { return 1.0; }});
  return result;
}

TEST(Interleaving, TakesEveryCandidateOnceARound) {
  const Interleaved ran = interleaved();
  const std::size_t warm_up = 3 * candidate_count;  // a call, and two to see how long it takes
  ASSERT_EQ(ran.order.size(), warm_up + rounds * candidate_count);
  for (std::size_t round = 0; round < rounds; ++round) {
    const auto first = ran.order.begin() + static_cast<std::ptrdiff_t>(warm_up + round * candidate_count);
    EXPECT_EQ(std::set<std::size_t>(first, first + candidate_count).size(), candidate_count);
  }
  for (const Samples& samples : ran.samples) {
    EXPECT_EQ(samples.calls, 1);
    EXPECT_EQ(samples.seconds, std::vector<double>(rounds, 1.0));
  }
}

TEST(Interleaving, PreparesAndFinishesEverySample) {
  std::string calls;
  const std::vector<Candidate> candidates = {{.name = "a",
                                              .run = [&](std::size_t) { calls += 'r'; },
                                              .prepare = [&] { calls += 'p'; },
                                              .finish = [&] { calls += 'f'; }}};
  interleave(candidates, 2, {.greatest = [](double) { return 1.0; }});
  EXPECT_EQ(calls, "prfprfprfprfprf");
}

TEST(Interleaving, CountsWhatIsSentByTheCallsAlone) {
  double sent = 0;
  const std::vector<Candidate> candidates = {{.name = "a",
                                              .run = calls_of([&] { keep(sent += 3); }),
                                              .prepare = [&] { sent += 100; },
                                              .finish = [&] { sent += 1000; }}};
  const auto samples = interleave(candidates, 4, {.bytes_sent = [&] { return sent; }});
  EXPECT_EQ(samples[0].wire_bytes, std::vector<double>(4, 3.0));
  EXPECT_TRUE(interleave(candidates, 4)[0].wire_bytes.empty());
}

TEST(Interleaving, GivesEveryCandidateEveryNeighbour) {
  const Interleaved ran = interleaved();
  std::set<std::pair<std::size_t, std::size_t>> neighbours;
  for (std::size_t i = 3 * candidate_count + 1; i < ran.order.size(); ++i)
    if (ran.order[i] != ran.order[i - 1]) neighbours.insert({ran.order[i - 1], ran.order[i]});
  EXPECT_EQ(neighbours.size(), candidate_count * (candidate_count - 1));
}

TEST(Interleaving, HasTheSameOrderEveryTime) { EXPECT_EQ(interleaved().order, interleaved().order); }

TEST(Interleaving, CallsOftenEnoughForTheClock) {
  const std::vector<Candidate> candidates = {{"nothing", calls_of([] { keep(0); })}};
  const auto samples = interleave(candidates, 3);
  EXPECT_GT(samples[0].calls, 1000);
  for (const double seconds : samples[0].seconds) EXPECT_GT(seconds, 0);
}

/// Every byte, wherever the array begins and ends: a single bit is never missed.
TEST(ReadLoops, ReadEveryByte) {
  std::vector<std::size_t> sizes;
  for (std::size_t size = 0; size < 140; ++size) sizes.push_back(size);
  for (std::size_t size = 140; size < 1200; size += 97) sizes.push_back(size);
  std::vector<std::byte> memory(1400);
  for (const ReadLoop& loop : read_loops()) {
    for (const std::size_t size : sizes) {
      const std::span<std::byte> bytes(memory.data() + size % 67, size);
      ASSERT_EQ(read(loop, bytes), 0) << name_of(loop);
      for (std::byte& byte : bytes) {
        byte = std::byte{16};
        ASSERT_NE(read(loop, bytes), 0) << name_of(loop) << ": byte " << &byte - bytes.data() << " of " << size;
        byte = std::byte{0};
      }
    }
  }
}

TEST(ReadLoops, ReadNothingElse) {
  std::vector<std::byte> memory(1400, std::byte{255});
  for (const ReadLoop& loop : read_loops()) {
    for (std::size_t size = 0; size < 1200; ++size) {
      const std::span<std::byte> bytes(memory.data() + size % 67, size);
      std::fill(bytes.begin(), bytes.end(), std::byte{0});
      ASSERT_EQ(read(loop, bytes), 0) << name_of(loop) << ": " << size;
      std::fill(bytes.begin(), bytes.end(), std::byte{255});
    }
  }
}

TEST(FastMath, Sums) {
  std::vector<double> x;
  std::vector<float> y;
  for (int i = 0; i <= 1000; ++i) {
    EXPECT_EQ(fast_sum(x.data(), x.size()), i * (i - 1) / 2.0);
    EXPECT_EQ(fast_sum(y.data(), y.size()), static_cast<float>(i * (i - 1)) / 2);
    x.push_back(i);
    y.push_back(static_cast<float>(i));
  }
}

/// What -ffast-math does where it is given to the linker.
TEST(FastMath, LeavesTheEnvironmentAlone) {
  const volatile double smallest = 5e-324;
  const double twice = smallest + smallest;
  EXPECT_GT(twice, 0);
}

}  // namespace
}  // namespace steadfold::bench::harness_test
