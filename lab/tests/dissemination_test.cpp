// Dissemination in every order of its operations, under C++'s memory: nobody acknowledges.
#include "lab/protocols/dissemination.hpp"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include "transport/in_every_order.hpp"

namespace steadfold::transport::dissemination_test {
namespace {

using model::most_workers;

constexpr std::size_t most_steps = 2;

template <class Memory, class Content, std::size_t parities>
using Lines = std::array<std::array<Notice<Memory, Content, parities>, most_steps>, most_workers>;

std::size_t steps_of(std::size_t workers) { return static_cast<std::size_t>(std::bit_width(workers - 1)); }

/// What a worker listens to, one line per step.
template <class Memory, class Content, std::size_t parities>
std::array<const Notice<Memory, Content, parities>*, most_steps> sources(const Lines<Memory, Content, parities>& lines,
                                                                         std::size_t worker, std::size_t workers) {
  std::array<const Notice<Memory, Content, parities>*, most_steps> sources{};
  for (std::size_t t = 0; t < steps_of(workers); ++t) sources[t] = &lines[dissemination_source(worker, t, workers)][t];
  return sources;
}

template <class Memory, std::size_t parities = 2>
Report dissemination(std::size_t workers, std::uint64_t rounds) {
  Search search;
  Lines<Memory, Plain, parities> lines;
  for (std::size_t w = 0; w < workers; ++w) {
    search.worker([&, w] {
      const auto listens_to = sources<Memory, Plain, parities>(lines, w, workers);
      const std::size_t steps = steps_of(workers);
      Dissemination<Memory, Plain, Sum, parities> end(std::span(lines[w]).first(steps),
                                                      std::span(listens_to).first(steps));
      for (std::uint64_t round = 0; round < rounds; ++round) {
        Sum sum{contribution(w, round)};
        end.start(sum);
        while (!end.done()) await([&] { return end.advance(); });
        require(sum.value == sum_of_all(workers, round), "wrong sum");
      }
    });
  }
  return search.run();
}

TEST(DisseminationInEveryOrder, PowersOfTwo) {
  expect_right("1 worker", dissemination<Right>(1, 3));
  expect_right("2 workers, 8 rounds", dissemination<Right>(2, 8));
  expect_right("4 workers, 3 rounds", dissemination<Right>(4, 3));
  expect_right("4 workers, 5 rounds", dissemination<Right>(4, 5));
}

TEST(DisseminationInEveryOrder, NeedsTwoBoxesAndTwoOrders) {
  for (const std::size_t workers : {2, 4}) {
    EXPECT_EQ((dissemination<Right, 1>(workers, 1).fault), "");
    expect_race(dissemination<Right, 1>(workers, 2));
    EXPECT_EQ(dissemination<WeakAnnounce>(workers, 3).fault, race_with_a_write);
    EXPECT_EQ(dissemination<WeakExpect>(workers, 3).fault, race_with_a_write);
  }
  expect_right("give_back relaxed", dissemination<WeakGiveBack>(4, 3));
  expect_right("take_back relaxed", dissemination<WeakTakeBack>(4, 3));
}

/// Nothing is sent but that a worker has come.
struct Presence {
  void merge(const Presence&) {}
  void write(Presence&) const {}
};

/// What was written before a barrier may be read after it by all, and written over after the next one.
template <class Memory>
Report barriers(std::size_t workers, std::uint64_t rounds) {
  Search search;
  Lines<Memory, Presence, 2> lines;
  std::array<std::array<Plain, 2>, most_workers> data;
  for (std::size_t w = 0; w < workers; ++w) {
    search.worker([&, w] {
      const auto listens_to = sources<Memory, Presence, 2>(lines, w, workers);
      const std::size_t steps = steps_of(workers);
      Dissemination<Memory, Presence, Presence> barrier(std::span(lines[w]).first(steps),
                                                        std::span(listens_to).first(steps));
      for (std::uint64_t round = 0; round < rounds; ++round) {
        data[w][round % 2] = contribution(w, round);
        Presence presence;
        barrier.start(presence);
        while (!barrier.done()) await([&] { return barrier.advance(); });
        for (std::size_t other = 0; other < workers; ++other) {
          require(data[other][round % 2] == contribution(other, round), "stale data");
        }
      }
    });
  }
  return search.run();
}

TEST(DisseminationInEveryOrder, BarriersOfAnyNumberOfWorkers) {
  for (const std::size_t workers : {2, 3, 4}) {
    expect_right(std::to_string(workers) + " workers, 4 barriers", barriers<Right>(workers, 4));
    expect_race(barriers<WeakAnnounce>(workers, 4));
    expect_race(barriers<WeakExpect>(workers, 4));
  }
}

}  // namespace
}  // namespace steadfold::transport::dissemination_test
