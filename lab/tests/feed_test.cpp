// Feeds in every order of their operations, under C++'s memory: one writer, several readers, a count per box.
#include "lab/protocols/feed.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "transport/in_every_order.hpp"

namespace steadfold::transport::feed_test {
namespace {

/// The first worker writes so many messages, all others read all of them.
template <class Memory, std::size_t depth, std::size_t counts = depth>
Report feed(std::size_t readers, std::uint64_t messages, bool waits_for_room = true) {
  Search search;
  Feed<Memory, Plain, depth, counts> feed;
  search.worker([&] {
    FeedWriter writer(feed);
    for (std::uint64_t i = 0; i < messages; ++i) {
      if (waits_for_room) await([&] { return writer.has_room(); });
      writer.next() = 100 + i;
      writer.send(readers);
    }
  });
  for (std::size_t r = 0; r < readers; ++r) {
    search.worker([&] {
      FeedReader reader(feed);
      for (std::uint64_t i = 0; i < messages; ++i) {
        const Plain* content = await([&] { return reader.look(); });
        require(*content == 100 + i, "stale content");
        reader.take();
      }
    });
  }
  return search.run();
}

TEST(FeedInEveryOrder, AnyNumberOfReaders) {
  expect_right("1 reader, depth 2, 8 messages", feed<Right, 2>(1, 8));
  expect_right("2 readers, depth 1, 6 messages", feed<Right, 1>(2, 6));
  expect_right("2 readers, depth 2, 6 messages", feed<Right, 2>(2, 6));
  expect_right("2 readers, depth 3, 6 messages", feed<Right, 3>(2, 6));
  expect_right("3 readers, depth 2, 4 messages", feed<Right, 2>(3, 4));
}

TEST(FeedInEveryOrder, NeedsAllFourOrders) {
  for (const std::size_t readers : {1, 2}) {
    EXPECT_EQ((feed<WeakAnnounce, 2>(readers, 4).fault), race_with_a_write);
    EXPECT_EQ((feed<WeakExpect, 2>(readers, 4).fault), race_with_a_write);
    EXPECT_EQ((feed<WeakGiveBack, 2>(readers, 4).fault), race_on_writing);
    EXPECT_EQ((feed<WeakTakeBack, 2>(readers, 4).fault), race_on_writing);
  }
}

TEST(FeedInEveryOrder, NeedsItsCredit) {
  EXPECT_EQ((feed<Right, 2>(2, 2, false).fault), "");
  expect_race(feed<Right, 2>(2, 3, false));
}

/// A reader that is ahead has read the second box when the first one is still being read: one count cannot tell.
TEST(FeedInEveryOrder, NeedsACountPerBox) {
  expect_right("one count, one reader", feed<Right, 2, 1>(1, 6));
  expect_race(feed<Right, 2, 1>(2, 3));
  expect_race(feed<Right, 3, 1>(2, 4));
  EXPECT_EQ((feed<Right, 1, 1>(2, 4).fault), "") << "one box";
}

/// A message for one reader or the other, or both: who is not meant goes past it.
TEST(FeedInEveryOrder, ReadersChange) {
  constexpr std::array<std::array<bool, 2>, 6> meant = {
      {{true, true}, {true, false}, {false, true}, {false, true}, {true, true}, {true, false}}};
  Search search;
  Feed<Right, Plain, 2> feed;
  search.worker([&] {
    FeedWriter writer(feed);
    for (std::uint64_t i = 0; i < meant.size(); ++i) {
      await([&] { return writer.has_room(); });
      writer.next() = 100 + i;
      writer.send(static_cast<std::size_t>(meant[i][0]) + static_cast<std::size_t>(meant[i][1]));
    }
  });
  for (std::size_t r = 0; r < 2; ++r) {
    search.worker([&, r] {
      FeedReader reader(feed);
      for (std::uint64_t i = 0; i < meant.size(); ++i) {
        if (!meant[i][r]) {
          reader.skip();
          continue;
        }
        const Plain* content = await([&] { return reader.look(); });
        require(*content == 100 + i, "stale content");
        reader.take();
      }
    });
  }
  expect_right("6 messages", search.run());
}

/// Broadcasts whose root changes, each from the root's own feed; the next one starts while slow workers read the last.
template <class Memory, std::size_t depth>
Report broadcasts(std::size_t workers, const std::vector<std::size_t>& roots) {
  Search search;
  std::array<Feed<Memory, Plain, depth>, 3> feeds;
  for (std::size_t w = 0; w < workers; ++w) {
    search.worker([&, w] {
      FeedWriter writer(feeds[w]);
      std::array<FeedReader<Memory, Plain, depth>, 3> readers = {FeedReader(feeds[0]), FeedReader(feeds[1]),
                                                                 FeedReader(feeds[2])};
      for (std::uint64_t i = 0; i < roots.size(); ++i) {
        if (roots[i] == w) {
          await([&] { return writer.has_room(); });
          writer.next() = 100 + i;
          writer.send(workers - 1);
          continue;
        }
        FeedReader<Memory, Plain, depth>& reader = readers[roots[i]];
        const Plain* content = await([&] { return reader.look(); });
        require(*content == 100 + i, "stale content");
        reader.take();
      }
    });
  }
  return search.run();
}

TEST(FeedInEveryOrder, BroadcastsFromChangingRoots) {
  expect_right("2 workers, depth 1", broadcasts<Right, 1>(2, {0, 1, 1, 0, 0, 1}));
  expect_right("3 workers, depth 1", broadcasts<Right, 1>(3, {0, 1, 2, 2, 0, 1}));
  expect_right("3 workers, depth 2", broadcasts<Right, 2>(3, {0, 0, 0, 1, 2, 0}));
  expect_race(broadcasts<WeakGiveBack, 1>(3, {0, 0, 1}));
}

/// A broadcast along a chain: the second worker hands on what it reads.
TEST(FeedInEveryOrder, BroadcastsAlongAChain) {
  Search search;
  std::array<Feed<Right, Plain, 2>, 2> feeds;
  constexpr std::uint64_t messages = 6;
  search.worker([&] {
    FeedWriter writer(feeds[0]);
    for (std::uint64_t i = 0; i < messages; ++i) {
      await([&] { return writer.has_room(); });
      writer.next() = 100 + i;
      writer.send(1);
    }
  });
  search.worker([&] {
    FeedReader reader(feeds[0]);
    FeedWriter writer(feeds[1]);
    for (std::uint64_t i = 0; i < messages; ++i) {
      const Plain* content = await([&] { return reader.look(); });
      await([&] { return writer.has_room(); });
      writer.next() = std::uint64_t{*content};
      reader.take();
      writer.send(2);
    }
  });
  for (std::size_t r = 0; r < 2; ++r) {
    search.worker([&] {
      FeedReader reader(feeds[1]);
      for (std::uint64_t i = 0; i < messages; ++i) {
        const Plain* content = await([&] { return reader.look(); });
        require(*content == 100 + i, "stale content");
        reader.take();
      }
    });
  }
  expect_right("a chain of 2 and 2 readers, 6 messages", search.run());
}

}  // namespace
}  // namespace steadfold::transport::feed_test
