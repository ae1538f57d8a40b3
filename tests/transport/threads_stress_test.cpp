// Lanes and boards between real threads, with random delays: nothing stale, nothing lost. Under the thread sanitizer,
// with fewer operations, no race either. Every case says its seed.
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "transport/shared/flags.hpp"
#include "transport/threads_stress.hpp"

namespace steadfold::transport::threads_stress_test {
namespace {

using namespace threads_stress;

template <std::size_t depth>
void stress_lane(std::uint64_t seed, std::uint64_t messages) {
  Lane<MachineMemory, Line, depth> lane;
  run("a lane of depth " + std::to_string(depth), seed, 2, messages, [&](std::size_t worker, Thread& thread) {
    LaneSender sender(lane);
    LaneReceiver receiver(lane);
    for (std::uint64_t i = 0; i < messages; ++i) {
      if (worker == 0) {
        thread.await([&] { return sender.has_room(); });
        fill(sender.next(), i);
        sender.send();
      } else {
        const Line* line = thread.await([&] { return receiver.look(); });
        thread.require(holds(*line, i));
        receiver.take();
      }
    }
  });
}

TEST(ThreadsStress, Lanes) {
  stress_lane<1>(1, 100'000 / fewer);
  stress_lane<2>(2, 50'000 / fewer);
  stress_lane<8>(3, 1'000'000 / fewer);
}

TEST(ThreadsStress, Boards) {
  for (std::size_t workers = 2; workers <= 4; ++workers) {
    const std::uint64_t rounds = (workers == 2 ? 100'000 : 20'000) / fewer;
    std::array<Notice<MachineMemory, Line>, 4> notices;
    run("a board of " + std::to_string(workers), workers, workers, rounds, [&](std::size_t worker, Thread& thread) {
      BoardEnd end(notices[worker]);
      for (std::uint64_t round = 0; round < rounds; ++round) {
        fill(end.own(), part(round, worker));
        end.post();
        for (std::size_t other = 0; other < workers; ++other) {
          if (other == worker) continue;
          const Line* line = thread.await([&] { return end.look(notices[other]); });
          thread.require(holds(*line, part(round, other)));
        }
        end.done();
      }
    });
  }
}

}  // namespace
}  // namespace steadfold::transport::threads_stress_test
