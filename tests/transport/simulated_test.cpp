// The simulated network keeps the transport's contract: matching, delivery, synchronous sends, failures, sums, scale.
// Every case prints its seed on failure.
#include "transport/simulated/simulated.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <numeric>
#include <set>
#include <span>
#include <stdexcept>
#include <vector>

#include "support/sanitized.hpp"
#include "support/tested.hpp"

namespace steadfold::transport::simulated_test {
namespace {

using Endpoints = std::vector<std::unique_ptr<Tested>>;

constexpr SimulatedOptions prompt = {.delivery = Delivery::prompt};

Endpoints connect_all(SimulatedNetwork& network, Rank rank_count, std::vector<Bytes> capacities, Ticket tickets,
                      std::uint32_t tag = 0) {
  Endpoints endpoints;
  for (Rank rank = 0; rank < rank_count; ++rank) {
    endpoints.push_back(std::make_unique<Tested>(
        network.rank(rank).prepare(tag, capacities, tickets, WordOrder::of_endpoints), tickets));
  }
  network.connect();
  return endpoints;
}

std::span<const std::byte> bytes_of(const std::uint64_t& word) { return std::as_bytes(std::span(&word, 1)); }

std::uint64_t word_in(Tested& endpoint, SlotNumber slot) {
  std::uint64_t word = 0;
  std::memcpy(&word, endpoint.landing(slot).data(), sizeof word);
  return word;
}

Progress test_once(Tested& endpoint, Ticket ticket) {
  Bytes arrived = 0;
  return endpoint.test(ticket, arrived);
}

/// Tests a ticket as often as one that can complete may need.
Progress test_fully(Tested& endpoint, Ticket ticket) {
  Progress progress = Progress::pending;
  for (int i = 0; i < SimulatedNetwork::max_polls && progress == Progress::pending; ++i) {
    progress = test_once(endpoint, ticket);
  }
  return progress;
}

TEST(Simulated, KnowsItsRanks) {
  SimulatedNetwork network(3);
  for (Rank rank = 0; rank < 3; ++rank) {
    EXPECT_EQ(network.rank(rank).rank(), rank);
    EXPECT_EQ(network.rank(rank).rank_count(), 3);
  }
}

TEST(Simulated, RingOfAnySize) {
  for (const Sends sends : {Sends::buffered, Sends::synchronous}) {
    for (Rank p = 1; p <= 9; ++p) {
      for (std::uint64_t seed = 1; seed <= 5; ++seed) {
        SCOPED_TRACE(testing::Message() << "p " << p << " seed " << seed << " sends " << static_cast<int>(sends));
        SimulatedNetwork network(p, {.seed = seed, .sends = sends});
        const Endpoints ends = connect_all(network, p, {8}, 2);
        std::vector<std::uint64_t> words(static_cast<std::size_t>(p));
        std::iota(words.begin(), words.end(), 100);
        for (std::size_t i = 0; i < words.size(); ++i) {
          const Rank rank = static_cast<Rank>(i);
          ends[i]->put(0, (rank + 1) % p, 0, bytes_of(words[i]));
          ends[i]->release(1, (rank + p - 1) % p, 0);
        }
        for (std::size_t i = 0; i < words.size(); ++i) {
          EXPECT_EQ(test_fully(*ends[i], 1), Progress::complete);
          EXPECT_EQ(test_fully(*ends[i], 0), Progress::complete);
          EXPECT_EQ(word_in(*ends[i], 0), words[(i + words.size() - 1) % words.size()]);
        }
      }
    }
  }
}

TEST(Simulated, MessagesInTwoPartsLandInTwoPlaces) {
  SimulatedNetwork network(2, {.seed = 3});
  const Endpoints ends = connect_all(network, 2, {16}, 2);
  const std::uint64_t first = 41;
  const std::uint64_t second = 42;
  std::uint64_t elsewhere = 0;
  const auto land = [&](std::span<std::byte> room, std::optional<std::span<const std::byte>> part) {
    ends[0]->put(0, 1, 0, bytes_of(first), part);
    ends[1]->release(1, 0, 0, SecondRoom{.head = 8, .room = room});
    Bytes arrived = 0;
    Progress progress = Progress::pending;
    while (progress == Progress::pending) progress = ends[1]->test(1, arrived);
    EXPECT_EQ(test_fully(*ends[0], 0), Progress::complete);
    return std::pair(progress, arrived);
  };
  const auto room = std::as_writable_bytes(std::span(&elsewhere, 1));
  EXPECT_EQ(land(room, bytes_of(second)), std::pair(Progress::complete, Bytes{16}));
  EXPECT_EQ(word_in(*ends[1], 0), first);
  EXPECT_EQ(elsewhere, second);
  EXPECT_EQ(land(room, std::span<const std::byte>()), std::pair(Progress::complete, Bytes{8}));
  EXPECT_EQ(land(room.first(7), bytes_of(second)).first, Progress::failed) << "does not fit";
  EXPECT_EQ(land(room, std::nullopt).first, Progress::failed) << "one part where two are due";
  EXPECT_EQ(network.traffic().messages, 4u);
  EXPECT_EQ(network.traffic().bytes, 8u * 4 + 8 * 2);
}

/// As in a mailbox; so whoever reads a landing slot where nobody said that a message stands reads 0xA5.
TEST(Simulated, SomeMessagesStandElsewhere) {
  for (const Delivery delivery : {Delivery::prompt, Delivery::shuffled}) {
    SimulatedNetwork network(2, {.seed = 5, .delivery = delivery});
    const Endpoints ends = connect_all(network, 2, {8}, 1);
    int elsewhere = 0;
    for (std::uint64_t word = 1; word <= 100; ++word) {
      ends[0]->put(0, 1, 0, bytes_of(word));
      ends[1]->release(0, 0, 0);
      EXPECT_EQ(test_fully(*ends[1], 0), Progress::complete);
      EXPECT_EQ(test_fully(*ends[0], 0), Progress::complete);
      EXPECT_EQ(word_in(*ends[1], 0), word);
      elsewhere += ends[1]->stands_elsewhere(0) ? 1 : 0;
    }
    EXPECT_EQ(elsewhere > 20 && elsewhere < 80, delivery == Delivery::shuffled) << elsewhere;
    EXPECT_EQ(elsewhere == 0, delivery == Delivery::prompt) << elsewhere;
  }
}

TEST(Simulated, LandingSlotsAreAlignedAndSized) {
  SimulatedNetwork network(1);
  const std::array<Bytes, 5> capacities = {1, 0, 64, 65, 8};
  const auto end = network.rank(0).prepare(0, capacities, 0, WordOrder::of_endpoints);
  for (SlotNumber slot = 0; slot < capacities.size(); ++slot) {
    const std::span<std::byte> memory = end->landing(slot);
    EXPECT_EQ(memory.size(), capacities[slot]);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory.data()) % 64, 0u);
    std::ranges::fill(memory, std::byte{1});  // the address sanitiser looks on
  }
}

TEST(Simulated, MemoryThatCannotBeHadIsAnError) {
  if (test::sanitized) GTEST_SKIP() << "sanitizers end the program where memory cannot be had";
  SimulatedNetwork network(1);
  const std::array<Bytes, 2> capacities = {Bytes{1} << 62, Bytes{1} << 62};
  EXPECT_THROW(network.rank(0).prepare(0, capacities, 0, WordOrder::of_endpoints), std::runtime_error);
}

TEST(Simulated, MessagesOfAPairMatchInTheOrderPut) {
  constexpr Ticket count = 20;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    SimulatedNetwork network(2, {.seed = seed});
    const Endpoints ends = connect_all(network, 2, std::vector<Bytes>(count, 8), count);
    std::array<std::uint64_t, count> words;
    std::iota(words.begin(), words.end(), 7);
    Ticket put = 0;
    for (Ticket released = 0; released < count; ++released) {  // now one end is ahead, now the other
      for (; put < count && put < released * (seed % 4); ++put) ends[0]->put(put, 1, put, bytes_of(words[put]));
      ends[1]->release(released, 0, released);
    }
    for (; put < count; ++put) ends[0]->put(put, 1, put, bytes_of(words[put]));
    for (Ticket ticket = count; ticket-- > 0;) {
      EXPECT_EQ(test_fully(*ends[1], ticket), Progress::complete);
      EXPECT_EQ(word_in(*ends[1], ticket), words[ticket]);
    }
  }
}

/// Which of two senders' messages rank 0 sees first, testing both in turn.
Rank first_seen(SimulatedOptions options) {
  const std::uint64_t word = 1;  // an endpoint that goes may copy what nobody has received
  SimulatedNetwork network(3, options);
  const Endpoints ends = connect_all(network, 3, {8, 8}, 2);
  for (const Rank source : {1, 2}) {
    const auto slot = static_cast<SlotNumber>(source - 1);
    ends[0]->release(slot, source, slot);
    ends[static_cast<std::size_t>(source)]->put(0, 0, slot, bytes_of(word));
  }
  for (int i = 0; i < SimulatedNetwork::max_polls; ++i) {
    for (const Rank source : {1, 2}) {
      if (test_once(*ends[0], static_cast<Ticket>(source - 1)) == Progress::complete) return source;
    }
  }
  return 0;
}

TEST(Simulated, ShufflesMessagesOfDifferentPairs) {
  std::set<Rank> seen;
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    seen.insert(first_seen({.seed = seed}));
    EXPECT_EQ(first_seen({.seed = seed}), first_seen({.seed = seed})) << "the same seed must do the same, " << seed;
    EXPECT_EQ(first_seen({.seed = seed, .delivery = Delivery::prompt}), 1);
  }
  EXPECT_EQ(seen, (std::set<Rank>{1, 2}));
}

TEST(Simulated, TagsKeepEndpointsApart) {
  SimulatedNetwork network(2, prompt);
  const Endpoints one = connect_all(network, 2, {8}, 1, 1);
  const Endpoints two = connect_all(network, 2, {8}, 1, 2);
  const std::uint64_t first = 11;
  const std::uint64_t second = 22;
  one[0]->put(0, 1, 0, bytes_of(first));
  two[0]->put(0, 1, 0, bytes_of(second));
  two[1]->release(0, 0, 0);
  one[1]->release(0, 0, 0);
  EXPECT_EQ(test_once(*two[1], 0), Progress::complete);
  EXPECT_EQ(test_once(*one[1], 0), Progress::complete);
  EXPECT_EQ(word_in(*one[1], 0), first);
  EXPECT_EQ(word_in(*two[1], 0), second);
}

TEST(Simulated, ConnectsWhenAllRanksHavePrepared) {
  constexpr Rank p = 3;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SimulatedNetwork network(p, {.seed = seed});
    for (const bool all_prepared : {true, false, true}) {
      std::vector<Connection> ends(p, Connection::pending);
      for (Rank rank = 0; rank < p; ++rank) {
        if (rank > 0) {
          for (int i = 0; i < SimulatedNetwork::max_polls; ++i)
            EXPECT_EQ(network.rank(0).connected(), Connection::pending) << "rank " << rank << " is not here";
        }
        network.rank(rank).connect(all_prepared || rank != 1);
      }
      for (int i = 0; i < SimulatedNetwork::max_polls; ++i)
        for (Rank rank = 0; rank < p; ++rank) {
          Connection& end = ends[static_cast<std::size_t>(rank)];
          if (end == Connection::pending) end = network.rank(rank).connected();
        }
      EXPECT_EQ(ends, std::vector(p, all_prepared ? Connection::connected : Connection::failed)) << "seed " << seed;
    }
  }
}

TEST(Simulated, WhatIsStartedBeforeItsEndpointIsConnectedFails) {
  SimulatedNetwork network(1);
  Tested end(network.rank(0).prepare(0, std::array<Bytes, 1>{8}, 3, WordOrder::of_endpoints), 3);
  const std::uint64_t word = 1;
  std::array<std::int64_t, 1> sum = {1};
  end.put(0, 0, 0, bytes_of(word));
  end.release(1, 0, 0);
  end.add_words(2, sum);
  for (Ticket ticket = 0; ticket < 3; ++ticket) EXPECT_EQ(test_fully(end, ticket), Progress::failed);
  network.connect();
  end.release(1, 0, 0);
  end.put(0, 0, 0, bytes_of(word));
  for (Ticket ticket = 0; ticket < 2; ++ticket) EXPECT_EQ(test_fully(end, ticket), Progress::complete);
}

TEST(Simulated, RefusesToPrepareOnOneRank) {
  SimulatedNetwork network(2);
  network.refuse(1, 1);
  for (const Rank rank : {0, 1}) EXPECT_NO_THROW(network.rank(rank).prepare(0, {}, 1, WordOrder::of_endpoints));
  EXPECT_NO_THROW(network.rank(0).prepare(1, {}, 1, WordOrder::of_endpoints));
  EXPECT_THROW(network.rank(1).prepare(1, {}, 1, WordOrder::of_endpoints), std::runtime_error);
  EXPECT_NO_THROW(network.rank(1).prepare(2, {}, 1, WordOrder::of_endpoints));
}

TEST(Simulated, TellsEveryTicketOnceAndNoMoreThanThereIsRoomFor) {
  constexpr Ticket count = 5;
  SimulatedNetwork network(2, prompt);
  const auto one = network.rank(0).prepare(0, {}, count, WordOrder::of_endpoints);
  const auto other = network.rank(1).prepare(0, std::vector<Bytes>(count, 8), count, WordOrder::of_endpoints);
  network.connect();
  const std::uint64_t word = 3;
  for (Ticket ticket = 0; ticket < count; ++ticket) {
    other->release(ticket, 0, ticket);
    one->put(ticket, 1, ticket, bytes_of(word));
  }
  std::array<Completion, 3> told;
  std::set<Ticket> seen;
  for (const std::size_t expected : {std::size_t{3}, std::size_t{2}, std::size_t{0}}) {
    ASSERT_EQ(other->poll(told), expected);
    for (const Completion& each : std::span(told).first(expected)) {
      EXPECT_TRUE(seen.insert(each.ticket).second);
      EXPECT_EQ(each.data, other->landing(each.ticket).data());
      EXPECT_EQ(each.size, 8u);
    }
  }
  EXPECT_EQ(seen.size(), count);
}

TEST(Simulated, SynchronousSendsWaitForTheirReceiver) {
  for (const Sends sends : {Sends::buffered, Sends::synchronous}) {
    SimulatedNetwork network(2, {.sends = sends});
    const Endpoints ends = connect_all(network, 2, {8}, 1);
    const std::uint64_t word = 5;
    ends[0]->put(0, 1, 0, bytes_of(word));
    const bool waits = sends == Sends::synchronous;
    for (int i = 0; i < 4; ++i) EXPECT_EQ(test_fully(*ends[0], 0), waits ? Progress::pending : Progress::complete);
    ends[1]->release(0, 0, 0);
    EXPECT_EQ(test_fully(*ends[0], 0), Progress::complete);
    EXPECT_EQ(test_fully(*ends[1], 0), Progress::complete);
    EXPECT_EQ(word_in(*ends[1], 0), word);
  }
}

TEST(Simulated, ReadsBytesAsLateAsItMay) {
  SimulatedNetwork network(2, prompt);
  const Endpoints ends = connect_all(network, 2, {8}, 1);
  std::uint64_t word = 1;
  ends[0]->put(0, 1, 0, bytes_of(word));
  word = 2;  // breaks the contract, and shows
  EXPECT_EQ(test_once(*ends[0], 0), Progress::complete);
  word = 3;  // is the caller's right
  ends[1]->release(0, 0, 0);
  EXPECT_EQ(test_once(*ends[1], 0), Progress::complete);
  EXPECT_EQ(word_in(*ends[1], 0), 2u);
}

TEST(Simulated, SpoilsReleasedSlots) {
  SimulatedNetwork network(1);
  const Endpoints ends = connect_all(network, 1, {8}, 1);
  ends[0]->release(0, 0, 0);
  EXPECT_EQ(word_in(*ends[0], 0), 0xA5A5A5A5A5A5A5A5u);
}

TEST(Simulated, AMessageThatDoesNotFitFailsAtItsReceiverOnly) {
  SimulatedNetwork network(2);
  const Endpoints ends = connect_all(network, 2, {4, 8}, 2);
  const std::uint64_t word = 9;
  Bytes arrived = 1;
  for (SlotNumber slot = 0; slot < 2; ++slot) {
    ends[1]->release(slot, 0, slot);
    ends[0]->put(slot, 1, slot, bytes_of(word));
  }
  EXPECT_EQ(test_fully(*ends[1], 0), Progress::failed);
  EXPECT_EQ(ends[1]->test(0, arrived), Progress::failed);
  EXPECT_EQ(arrived, 0u);
  EXPECT_EQ(test_fully(*ends[1], 1), Progress::complete);
  EXPECT_EQ(ends[1]->test(1, arrived), Progress::complete);
  EXPECT_EQ(arrived, 8u);
  EXPECT_EQ(test_fully(*ends[0], 0), Progress::complete);
  EXPECT_EQ(test_fully(*ends[0], 1), Progress::complete);
}

TEST(Simulated, AMessageMayBeShorterThanItsSlotOrEmpty) {
  SimulatedNetwork network(2);
  const Endpoints ends = connect_all(network, 2, {16, 0}, 2);
  const std::uint64_t word = 9;
  Bytes arrived = 99;
  ends[1]->release(0, 0, 0);
  ends[1]->release(1, 0, 1);
  ends[0]->put(0, 1, 0, bytes_of(word));
  ends[0]->put(1, 1, 1, {});
  EXPECT_EQ(test_fully(*ends[1], 0), Progress::complete);
  EXPECT_EQ(test_fully(*ends[1], 1), Progress::complete);
  EXPECT_EQ(ends[1]->test(0, arrived), Progress::complete);
  EXPECT_EQ(arrived, 8u);
  EXPECT_EQ(ends[1]->test(1, arrived), Progress::complete);
  EXPECT_EQ(arrived, 0u);
}

TEST(Simulated, AMessageToAnotherSlotThanTheReleasedOneFails) {
  SimulatedNetwork network(2);
  const Endpoints ends = connect_all(network, 2, {8, 8}, 1);
  const std::uint64_t word = 9;
  ends[0]->put(0, 1, 1, bytes_of(word));
  ends[1]->release(0, 0, 0);
  EXPECT_EQ(test_fully(*ends[1], 0), Progress::failed);
}

TEST(Simulated, AnEndpointThatGoesTakesItsReleasesAlongAndLeavesItsMessages) {
  SimulatedNetwork network(2);
  Endpoints ends = connect_all(network, 2, {8}, 1);
  ends[1]->release(0, 0, 0);
  ends[1] =
      std::make_unique<Tested>(network.rank(1).prepare(0, std::array<Bytes, 1>{8}, 1, WordOrder::of_endpoints), 1);
  network.connect();
  {
    const std::uint64_t word = 6;
    ends[0]->put(0, 1, 0, bytes_of(word));
    ends[0].reset();
  }
  ends[1]->release(0, 0, 0);
  EXPECT_EQ(test_fully(*ends[1], 0), Progress::complete);
  EXPECT_EQ(word_in(*ends[1], 0), 6u);
}

TEST(Simulated, AddsWordsOfAllRanksAndWrapsAround) {
  constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();
  for (Rank p = 1; p <= 5; ++p) {
    SimulatedNetwork network(p);
    const Endpoints ends = connect_all(network, p, {}, 2);
    std::vector<std::array<std::int64_t, 2>> words(ends.size(), {1, largest});
    std::vector<std::array<std::int64_t, 1>> later(ends.size(), {10});
    for (std::size_t i = 0; i < ends.size(); ++i) {
      if (i > 0) {
        EXPECT_EQ(test_fully(*ends[0], 0), Progress::pending);
      }
      ends[i]->add_words(0, words[i]);
      ends[i]->add_words(1, later[i]);
    }
    for (std::size_t i = 0; i < ends.size(); ++i) {
      EXPECT_EQ(test_fully(*ends[i], 1), Progress::complete);
      EXPECT_EQ(test_fully(*ends[i], 0), Progress::complete);
      EXPECT_EQ(words[i][0], p);
      EXPECT_EQ(static_cast<std::uint64_t>(words[i][1]), static_cast<std::uint64_t>(p) * largest);
      EXPECT_EQ(later[i][0], 10 * p);
    }
  }
}

TEST(Simulated, SumsOfDifferentWidthsFailEverywhere) {
  SimulatedNetwork network(3);
  const Endpoints ends = connect_all(network, 3, {}, 1);
  std::vector<std::int64_t> words(4, 1);
  for (std::size_t i = 0; i < ends.size(); ++i) ends[i]->add_words(0, std::span(words).first(1 + i));
  for (const auto& end : ends) EXPECT_EQ(test_fully(*end, 0), Progress::failed);
}

TEST(Simulated, CountsMessagesAndBytes) {
  const std::uint64_t word = 1;
  SimulatedNetwork network(3, prompt);
  const Endpoints ends = connect_all(network, 3, {8}, 1);
  for (int i = 0; i < 4; ++i) {
    ends[0]->put(0, 1, 0, bytes_of(word));
    EXPECT_EQ(test_once(*ends[0], 0), Progress::complete);
  }
  ends[2]->put(0, 1, 0, bytes_of(word).first(3));
  EXPECT_EQ(ends[0]->traffic().messages, 4u);
  EXPECT_EQ(ends[0]->traffic().bytes, 32u);
  EXPECT_EQ(ends[1]->traffic().messages, 0u);
  EXPECT_EQ(ends[2]->traffic().bytes, 3u);
  EXPECT_EQ(network.traffic().messages, 5u);
  EXPECT_EQ(network.traffic().bytes, 35u);
}

TEST(Simulated, GathersWhatEveryRankBrought) {
  SimulatedNetwork network(3, {.seed = 5});
  for (int again = 0; again < 20; ++again) {
    const std::vector<std::vector<std::byte>> brought = {
        std::vector(2, std::byte{1}), {}, std::vector(1, std::byte{3})};
    network.rank(2).gather(brought[2]);
    EXPECT_FALSE(network.rank(2).gathered().has_value()) << "before all ranks have brought something";
    network.rank(0).gather(brought[0]);
    network.rank(1).gather(brought[1]);
    for (const Rank rank : {1, 2, 0}) {
      const Transport::Gathered all = [&] {
        for (;;)
          if (auto found = network.rank(rank).gathered()) return *found;
      }();
      ASSERT_EQ(all.bytes.size(), 3u);
      for (Rank of = 0; of < 3; ++of)
        EXPECT_TRUE(std::ranges::equal(all.of(of), brought[static_cast<std::size_t>(of)]));
    }
  }
}

TEST(Simulated, PassesATokenAroundManyRanks) {
  constexpr Rank p = 1 << 17;
  SimulatedNetwork network(p, {.sends = Sends::synchronous});
  const Endpoints ends = connect_all(network, p, {8}, 2);
  for (Rank rank = 0; rank < p; ++rank) ends[static_cast<std::size_t>(rank)]->release(1, (rank + p - 1) % p, 0);
  std::uint64_t token = 1;
  for (Rank rank = 0; rank < p; ++rank) {
    Tested& next = *ends[static_cast<std::size_t>((rank + 1) % p)];
    ends[static_cast<std::size_t>(rank)]->put(0, (rank + 1) % p, 0, bytes_of(token));
    ASSERT_EQ(test_fully(next, 1), Progress::complete);
    ASSERT_EQ(test_fully(*ends[static_cast<std::size_t>(rank)], 0), Progress::complete);
    token = word_in(next, 0) + 1;
  }
  EXPECT_EQ(token, std::uint64_t{p} + 1);
}

TEST(Simulated, GathersFromManyRanksAtOne) {
  constexpr Rank p = 1 << 17;
  SimulatedNetwork network(p);
  const Endpoints ends = connect_all(network, p, {8}, 1);
  const auto root =
      std::make_unique<Tested>(network.rank(0).prepare(0, std::vector<Bytes>(p, 8), p, WordOrder::of_endpoints), p);
  network.connect();
  std::vector<std::uint64_t> words(p);
  std::iota(words.begin(), words.end(), 0);
  for (Rank rank = p; rank-- > 1;) {
    const auto i = static_cast<std::size_t>(rank);
    ends[i]->put(0, 0, static_cast<SlotNumber>(rank), bytes_of(words[i]));
  }
  for (Ticket i = 1; i < p; ++i) root->release(i, static_cast<Rank>(i), i);
  for (Ticket i = 1; i < p; ++i) {
    ASSERT_EQ(test_fully(*root, i), Progress::complete);
    ASSERT_EQ(word_in(*root, i), i);
  }
}

}  // namespace
}  // namespace steadfold::transport::simulated_test
