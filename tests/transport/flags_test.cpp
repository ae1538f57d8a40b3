// The protocols of flags.hpp in every order of their operations, under C++'s memory: nothing stale, no race, no
// lock-out; and what is left of that when an order is weakened, a box is missing, or a credit is not waited for.
#include "transport/shared/flags.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>

#include "transport/in_every_order.hpp"

namespace steadfold::transport::flags_test {
namespace {

// --- lanes -----------------------------------------------------------------------------------------------------------

enum class Credit { awaited, ignored };

/// One worker sends so many messages, the other one reads them.
template <class Memory, std::size_t depth>
Report one_lane(std::uint64_t messages, Credit credit = Credit::awaited) {
  Search search;
  Lane<Memory, Plain, depth> lane;
  search.worker([&] {
    LaneSender sender(lane);
    for (std::uint64_t i = 0; i < messages; ++i) {
      if (credit == Credit::awaited) await([&] { return sender.has_room(); });
      sender.next() = 100 + i;
      sender.send();
    }
  });
  search.worker([&] {
    LaneReceiver receiver(lane);
    for (std::uint64_t i = 0; i < messages; ++i) {
      const Plain* content = await([&] { return receiver.look(); });
      require(*content == 100 + i, "stale content");
      receiver.take();
    }
  });
  return search.run();
}

TEST(FlagsInEveryOrder, LanesOfAnyDepth) {
  expect_right("depth 1, 8 messages", one_lane<Right, 1>(8));
  expect_right("depth 2, 4 messages", one_lane<Right, 2>(4));
  expect_right("depth 2, 16 messages", one_lane<Right, 2>(16));
  expect_right("depth 3, 16 messages", one_lane<Right, 3>(16));
  expect_right("depth 4, 12 messages", one_lane<Right, 4>(12));
}

TEST(FlagsInEveryOrder, LanesNeedAllFourOrders) {
  EXPECT_EQ((one_lane<WeakAnnounce, 2>(4).fault), race_with_a_write);
  EXPECT_EQ((one_lane<WeakExpect, 2>(4).fault), race_with_a_write);
  EXPECT_EQ((one_lane<WeakGiveBack, 2>(4).fault), race_on_writing);
  EXPECT_EQ((one_lane<WeakTakeBack, 2>(4).fault), race_on_writing);
  // While no box is used twice, nobody gives anything back.
  expect_right("credits relaxed, no more messages than boxes", one_lane<WeakTakeBack, 4>(4));
}

TEST(FlagsInEveryOrder, LanesNeedTheirCredit) {
  EXPECT_EQ((one_lane<Right, 2>(2, Credit::ignored).fault), "");
  expect_race(one_lane<Right, 2>(3, Credit::ignored));
}

/// Sends and reads as either becomes possible, as an endpoint's poll does.
template <class Memory, std::size_t depth>
void exchange(Lane<Memory, Plain, depth>& out, Lane<Memory, Plain, depth>& in, std::uint64_t messages) {
  LaneSender sender(out);
  LaneReceiver receiver(in);
  std::uint64_t received = 0;
  while (sender.sent() < messages || received < messages) {
    await([&] {
      if (sender.sent() < messages && sender.has_room()) {
        sender.next() = 100 + sender.sent();
        sender.send();
        return true;
      }
      const Plain* content = received < messages ? receiver.look() : nullptr;
      if (content == nullptr) return false;
      require(*content == 100 + received, "stale content");
      receiver.take();
      received += 1;
      return true;
    });
  }
}

template <class Memory, std::size_t depth>
Report two_lanes(std::uint64_t messages) {
  Search search;
  std::array<Lane<Memory, Plain, depth>, 2> lanes;
  search.worker([&] { exchange(lanes[0], lanes[1], messages); });
  search.worker([&] { exchange(lanes[1], lanes[0], messages); });
  return search.run();
}

TEST(FlagsInEveryOrder, LanesInOppositeDirections) {
  expect_right("depth 1, 2 messages each way", two_lanes<Right, 1>(2));
  expect_right("depth 1, 3 messages each way", two_lanes<Right, 1>(3));
  expect_right("depth 2, 3 messages each way", two_lanes<Right, 2>(3));
  EXPECT_EQ((two_lanes<WeakExpect, 1>(3).fault), race_with_a_write);
  EXPECT_NE((two_lanes<WeakGiveBack, 1>(3).fault), "");
}

/// A message that is passed on around three workers, over and over.
template <class Memory>
Report ring(std::uint64_t turns) {
  Search search;
  std::array<Lane<Memory, Plain, 1>, 3> lanes;
  for (std::size_t w = 0; w < 3; ++w) {
    search.worker([&, w] {
      LaneSender sender(lanes[w]);
      LaneReceiver receiver(lanes[(w + 2) % 3]);
      for (std::uint64_t turn = 0; turn < turns; ++turn) {
        std::uint64_t token = 3 * turn;
        if (w > 0 || turn > 0) {
          const Plain* content = await([&] { return receiver.look(); });
          token = *content;
          receiver.take();
          require(token == 3 * turn + w - 1, "stale content");
        }
        await([&] { return sender.has_room(); });
        sender.next() = w == 0 ? 3 * turn : token + 1;
        sender.send();
      }
    });
  }
  return search.run();
}

TEST(FlagsInEveryOrder, LanesInARing) { expect_right("3 workers, 4 turns", ring<Right>(4)); }

// --- boards ----------------------------------------------------------------------------------------------------------

std::uint64_t posted(std::size_t worker, std::uint64_t round) { return 100 * round + worker + 1; }

template <class Memory, std::size_t parities>
using Notices = std::array<Notice<Memory, Plain, parities>, model::most_workers>;

template <class Memory, std::size_t parities>
void read_all(BoardEnd<Memory, Plain, parities>& end, const Notices<Memory, parities>& notices, std::size_t workers,
              std::size_t own, std::uint64_t round) {
  for (std::size_t other = 0; other < workers; ++other) {
    if (other == own) continue;
    const Plain* content = await([&] { return end.look(notices[other]); });
    require(*content == posted(other, round), "stale content");
  }
  end.done();
}

template <class Memory, std::size_t parities = 2>
Report board(std::size_t workers, std::uint64_t rounds, model::States states = model::States::merged) {
  Search search;
  Notices<Memory, parities> notices;
  for (std::size_t w = 0; w < workers; ++w) {
    search.worker([&, w] {
      BoardEnd end(notices[w]);
      for (std::uint64_t round = 0; round < rounds; ++round) {
        end.own() = posted(w, round);
        end.post();
        read_all(end, notices, workers, w, round);
      }
    });
  }
  return search.run(states);
}

TEST(FlagsInEveryOrder, Boards) {
  expect_right("2 workers, 8 rounds", board<Right>(2, 8));
  expect_right("3 workers, 3 rounds", board<Right>(3, 3));
  expect_right("3 workers, 8 rounds", board<Right>(3, 8));
  expect_right("4 workers, 4 rounds", board<Right>(4, 4));
}

/// As without merging states.
TEST(FlagsInEveryOrder, CountsEveryExecution) {
  const Report apart = board<Right>(2, 3, model::States::apart);
  EXPECT_EQ(apart.executions, board<Right>(2, 3).executions);
  EXPECT_GT(apart.states, 10 * board<Right>(2, 3).states);
}

TEST(FlagsInEveryOrder, BoardsNeedTwoBoxesAndTwoOrders) {
  EXPECT_EQ((board<Right, 1>(2, 1).fault), "");
  expect_race(board<Right, 1>(2, 2));
  expect_race(board<Right, 1>(3, 2));
  EXPECT_EQ(board<WeakAnnounce>(2, 3).fault, race_with_a_write);
  EXPECT_EQ(board<WeakExpect>(2, 3).fault, race_with_a_write);
  // Nothing is given back: a post says that its writer has read what came before.
  expect_right("give_back relaxed", board<WeakGiveBack>(3, 4));
  expect_right("take_back relaxed", board<WeakTakeBack>(3, 4));
}

/// Two boards, where the second one's post comes before anything of the first one is read.
TEST(FlagsInEveryOrder, BoardsThatOverlap) {
  for (const std::size_t workers : {2, 3}) {
    Search search;
    Notices<Right, 2> first;
    Notices<Right, 2> second;
    for (std::size_t w = 0; w < workers; ++w) {
      search.worker([&, w] {
        BoardEnd one(first[w]);
        BoardEnd other(second[w]);
        for (std::uint64_t round = 0; round < 3; ++round) {
          one.own() = posted(w, 2 * round);
          one.post();
          other.own() = posted(w, 2 * round + 1);
          other.post();
          read_all(other, second, workers, w, 2 * round + 1);
          read_all(one, first, workers, w, 2 * round);
        }
      });
    }
    expect_right(workers == 2 ? "2 workers, 3 rounds of two boards" : "3 workers, 3 rounds of two boards",
                 search.run());
  }
}

/// Rows are reduced where they were posted, and whoever looks at them last does so just before its own next post.
enum class LastLook : std::uint8_t { before_the_next_post, after_it };

Report read_in_place(std::size_t workers, LastLook last) {
  Search search;
  Notices<Right, 2> notices;
  for (std::size_t w = 0; w < workers; ++w) {
    search.worker([&, w] {
      BoardEnd end(notices[w]);
      const auto look_again = [&](std::uint64_t round) {
        for (std::size_t other = 0; round > 0 && other < workers; ++other)
          if (other != w)
            require(notices[other].boxes[(round - 1) % 2].content == posted(other, round - 1), "stale content");
      };
      for (std::uint64_t round = 0; round < 4; ++round) {
        if (last == LastLook::before_the_next_post) look_again(round);
        end.own() = posted(w, round);
        end.post();
        if (last == LastLook::after_it) look_again(round);
        read_all(end, notices, workers, w, round);
      }
    });
  }
  return search.run();
}

TEST(FlagsInEveryOrder, PostsStayUntilTheReadersNext) {
  expect_right("2 workers, 4 rounds read in place", read_in_place(2, LastLook::before_the_next_post));
  expect_right("3 workers, 4 rounds read in place", read_in_place(3, LastLook::before_the_next_post));
  expect_race(read_in_place(2, LastLook::after_it));
}

/// Posts of a worker that reads only some of the others before it goes on are overwritten under slow readers.
TEST(FlagsInEveryOrder, BoardsNeedEverybodyToReadEverybody) {
  Search search;
  Notices<Right, 2> notices;
  for (std::size_t w = 0; w < 3; ++w) {
    search.worker([&, w] {
      BoardEnd end(notices[w]);
      for (std::uint64_t round = 0; round < 3; ++round) {
        end.own() = posted(w, round);
        end.post();
        for (std::size_t other = 0; other < 3; ++other) {
          if (other == w || (w == 0 && other == 2)) continue;  // the first one does not wait for the last
          const Plain* content = await([&] { return end.look(notices[other]); });
          require(*content == posted(other, round), "stale content");
        }
        end.done();
      }
    });
  }
  EXPECT_NE(search.run().fault, "");
}

}  // namespace
}  // namespace steadfold::transport::flags_test
