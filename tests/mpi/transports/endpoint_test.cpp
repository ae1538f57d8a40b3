// What every transport between real processes promises: exchange, order, failures, sums, connections. Over messages,
// over windows that are read atomically or by plain loads, and over memory that all ranks share, or the ranks of nodes
// of two ranks or of every other rank. Runs on any number of ranks.
#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "mpi/transports/messages.hpp"
#include "support/sanitized.hpp"
#include "transport/mpi/node_memory.hpp"
#include "transport/mpi/rma.hpp"
#include "transport/shared/node.hpp"

namespace steadfold::transport::endpoint_test {
namespace {

enum class Way : std::uint8_t { mpi, rma, rma_loads, shared, nodes_of_two, nodes_dealt };

/// A transport over all ranks, and its neighbours in a ring.
class EndpointTest : public testing::TestWithParam<Way> {
 protected:
  void SetUp() override {
    auto messages = std::make_unique<MpiTransport>(MPI_COMM_WORLD);
    rank = messages->rank();
    rank_count = messages->rank_count();
    left = (rank + rank_count - 1) % rank_count;
    right = (rank + 1) % rank_count;
    switch (GetParam()) {
      case Way::mpi: world_ = std::move(messages); break;
      case Way::rma: over_window(std::move(messages), Reads::atomically); break;
      case Way::rma_loads: over_window(std::move(messages), Reads::by_loads); break;
      case Way::shared: over_nodes(std::move(messages), 0); break;
      case Way::nodes_of_two: over_nodes(std::move(messages), rank / 2); break;
      case Way::nodes_dealt: over_nodes(std::move(messages), rank % 2); break;
    }
  }
  void over_window(std::unique_ptr<MpiTransport> messages, Reads reads) {
    const RmaSettings settings = {.reads = reads};
    window_ = make_window(messages->comm(), settings.window_bytes, settings.reads);
    world_ = std::make_unique<RmaTransport>(std::move(messages), window_, settings);
  }
  void over_nodes(std::unique_ptr<MpiTransport> messages, int node_number) {
    NodeOfRank node = make_node_memory(*messages, {.color = node_number});
    const bool is_shared = node.among.memory != nullptr;
    EXPECT_EQ(is_shared, node.why.empty()) << node.why;
    const bool has_all = node.among.ranks.size() == static_cast<std::size_t>(rank_count);
    node.among.shares_cores = true;
    if (is_shared)
      world_ = make_node_transport(std::move(messages), std::move(node.among));
    else
      world_ = std::move(messages);
    EXPECT_STREQ(world_->name(), !is_shared ? "mpi" : has_all ? "shared" : "shared+mpi");
  }
  void TearDown() override {
    world_.reset();
    if (!window_) return;
    window_->end();
    EXPECT_TRUE(window_->has_ended());
  }

  Transport& world() { return *world_; }
  /// Of a message. Many ranks show no more of it than a pair.
  Bytes largest() const { return Bytes{rank_count > 3 || test::sanitized ? 1u : 3u} << 20; }
  /// Connected, if every rank does the same.
  std::unique_ptr<Tested> bind(std::vector<Bytes> capacities, Ticket tickets, std::uint32_t tag = 1) {
    auto end = std::make_unique<Tested>(world_->prepare(tag, capacities, tickets, WordOrder::of_endpoints), tickets);
    world_->connect(true);
    EXPECT_EQ(finish(*world_), Connection::connected);
    return end;
  }

  Rank rank = 0;
  Rank rank_count = 0;
  Rank left = 0;
  Rank right = 0;

 private:
  std::shared_ptr<Window> window_;
  std::unique_ptr<Transport> world_;
};

TEST_P(EndpointTest, ExchangesMessagesOfAnySizeInARing) {
  for (const Bytes size : {Bytes{0}, Bytes{1}, Bytes{8}, Bytes{5000}, largest()}) {
    const int rounds = size > 5000 ? 2 : 5;
    const auto end = bind({size + 3}, 2);
    for (int round = 0; round < rounds; ++round) {
      const std::vector<std::byte> own = pattern(size, rank, round);
      Bytes arrived = 99;
      end->release(0, left, 0);
      end->put(1, right, 0, own);
      EXPECT_EQ(finish(*end, 0, arrived), Progress::complete);
      EXPECT_EQ(arrived, size);
      EXPECT_TRUE(std::ranges::equal(end->landing(0).first(size), pattern(size, left, round))) << size;
      EXPECT_EQ(finish(*end, 1, arrived), Progress::complete);
    }
    EXPECT_EQ(end->traffic().messages, static_cast<std::uint64_t>(rounds));
    EXPECT_EQ(end->traffic().bytes, static_cast<Bytes>(rounds) * size);
  }
}

TEST_P(EndpointTest, MessagesOfAPairArriveInTheOrderPut) {
  constexpr SlotNumber count = 60;
  const auto size_of = [](SlotNumber slot) { return slot % 3 == 0 ? Bytes{200000} : Bytes{slot}; };  // slow ones too
  std::vector<Bytes> capacities(count, 200000);
  const auto end = bind(capacities, 2 * count);
  std::vector<std::vector<std::byte>> own;
  for (SlotNumber slot = 0; slot < count; ++slot) {
    own.push_back(pattern(size_of(slot), rank, static_cast<int>(slot)));
    end->release(slot, left, slot);
    end->put(count + slot, right, slot, own.back());
  }
  for (SlotNumber slot = count; slot-- > 0;) {
    Bytes arrived = 0;
    EXPECT_EQ(finish(*end, slot, arrived), Progress::complete);
    EXPECT_EQ(arrived, size_of(slot));
    EXPECT_TRUE(std::ranges::equal(end->landing(slot).first(arrived), pattern(arrived, left, static_cast<int>(slot))));
    EXPECT_EQ(finish(*end, count + slot), Progress::complete);
  }
}

/// More than one call of the MPI library asks for.
TEST_P(EndpointTest, ManyCommunicationsMayBeOpen) {
  constexpr SlotNumber count = 500;
  const auto end = bind(std::vector<Bytes>(count, 8), 2 * count);
  for (int round = 0; round < 3; ++round) {
    const std::vector<std::byte> own = pattern(8, rank, round);
    for (SlotNumber slot = 0; slot < count; ++slot) end->release(slot, left, slot);
    Bytes arrived = 0;
    EXPECT_NE(end->test(count - 1, arrived), Progress::failed);
    for (SlotNumber slot = 0; slot < count; ++slot) end->put(count + slot, right, slot, own);
    for (SlotNumber i = 0; i < 2 * count; ++i) {
      const Ticket ticket = (i * 7 + 3) % (2 * count);
      ASSERT_EQ(finish(*end, ticket, arrived), Progress::complete);
      ASSERT_EQ(arrived, ticket < count ? 8u : 0u);
    }
    for (SlotNumber slot = 0; slot < count; ++slot)
      ASSERT_TRUE(std::ranges::equal(end->landing(slot), pattern(8, left, round)));
  }
}

TEST_P(EndpointTest, MessagesInTwoPartsLandInTwoPlaces) {
  for (const Bytes size : {Bytes{0}, Bytes{8}, Bytes{5000}, largest()}) {
    const auto end = bind({64, 8}, 4);
    std::vector<std::byte> elsewhere(size);
    for (int round = 0; round < 3; ++round) {
      const std::vector<std::byte> head = pattern(40, rank, round);
      const std::vector<std::byte> values = pattern(size, rank, round + 10);
      const std::vector<std::byte> next = pattern(8, rank, round + 20);
      end->release(0, left, 0, SecondRoom{.head = 48, .room = elsewhere});
      end->release(1, left, 1);
      end->put(2, right, 0, head, values);
      end->put(3, right, 1, next);
      Bytes arrived = 0;
      EXPECT_EQ(finish(*end, 1, arrived), Progress::complete);
      EXPECT_EQ(finish(*end, 0, arrived), Progress::complete);
      EXPECT_EQ(arrived, 40 + size);
      EXPECT_TRUE(std::ranges::equal(end->landing(0).first(40), pattern(40, left, round)));
      EXPECT_TRUE(std::ranges::equal(elsewhere, pattern(size, left, round + 10)));
      EXPECT_TRUE(std::ranges::equal(end->landing(1), pattern(8, left, round + 20)));
      EXPECT_EQ(finish(*end, 2), Progress::complete);
      EXPECT_EQ(finish(*end, 3), Progress::complete);
    }
    EXPECT_EQ(end->traffic().messages, 6u);
    EXPECT_EQ(end->traffic().bytes, 3 * (48 + size));
  }
}

TEST_P(EndpointTest, EndpointsDoNotMix) {
  const auto one = bind({1}, 2, 1);
  const auto two = bind({1}, 2, 2);
  const std::byte first{11};
  const std::byte second{22};
  two->release(0, left, 0);
  one->release(0, left, 0);
  one->put(1, right, 0, {&first, 1});
  two->put(1, right, 0, {&second, 1});
  for (Tested* end : {one.get(), two.get()}) {
    EXPECT_EQ(finish(*end, 0), Progress::complete);
    EXPECT_EQ(finish(*end, 1), Progress::complete);
  }
  EXPECT_EQ(one->landing(0)[0], first);
  EXPECT_EQ(two->landing(0)[0], second);
}

TEST_P(EndpointTest, AMessageThatDoesNotFitFailsAndTheNextArrives) {
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);  // MPICH 4 asks this one
  for (const Bytes size : {Bytes{9}, Bytes{64}, Bytes{5000}, Bytes{1} << 20}) {
    const auto end = bind({8, size}, 4);
    const std::vector<std::byte> own = pattern(size, rank, 0);
    for (SlotNumber slot = 0; slot < 2; ++slot) {
      end->release(slot, left, slot);
      end->put(2 + slot, right, slot, own);
    }
    Bytes arrived = 99;
    EXPECT_EQ(finish(*end, 0, arrived), Progress::failed) << size;
    EXPECT_EQ(arrived, 0u);
    EXPECT_EQ(finish(*end, 1, arrived), Progress::complete);
    EXPECT_EQ(arrived, size);
    EXPECT_TRUE(std::ranges::equal(end->landing(1), pattern(size, left, 0)));
    EXPECT_NE(finish(*end, 2), Progress::pending);
    EXPECT_EQ(finish(*end, 3), Progress::complete);
  }
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

TEST_P(EndpointTest, AnErrorOfTheLibraryIsAFailedTicket) {
  const auto end = bind({8}, 2);
  const std::byte byte{};
  end->put(0, rank_count, 0, {&byte, 1});
  end->release(1, rank_count, 0);
  Bytes arrived = 0;
  EXPECT_EQ(end->test(0, arrived), Progress::failed);
  EXPECT_EQ(end->test(1, arrived), Progress::failed);
}

TEST_P(EndpointTest, AnEndpointThatGoesWithdrawsItsReleases) {
  for (std::uint32_t tag = 0; tag < 20; ++tag) {
    const auto end = bind({8, 1 << 20}, 2, tag);
    end->release(0, left, 0);
    end->release(1, left, 1);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  const auto end = bind({8}, 2, 0);  // tag 0 again: nothing of the first may take its message
  const std::byte byte{7};
  end->release(0, left, 0);
  end->put(1, right, 0, {&byte, 1});
  EXPECT_EQ(finish(*end, 0), Progress::complete);
  EXPECT_EQ(finish(*end, 1), Progress::complete);
  EXPECT_EQ(end->landing(0)[0], byte);
}

TEST_P(EndpointTest, AddsWordsOfAllRanksAndWrapsAround) {
  constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();
  const auto end = bind({}, 3);
  for (int round = 0; round < 10; ++round) {
    std::vector<std::int64_t> words = {rank, largest, -1};
    std::vector<std::int64_t> many(3000, round);
    end->add_words(0, words);
    end->add_words(1, many);
    end->add_words(2, {});
    for (Ticket ticket = 0; ticket < 3; ++ticket) EXPECT_EQ(finish(*end, ticket), Progress::complete);
    EXPECT_EQ(words[0], rank_count * (rank_count - 1) / 2);
    EXPECT_EQ(static_cast<std::uint64_t>(words[1]), static_cast<std::uint64_t>(rank_count) * largest);
    EXPECT_EQ(words[2], -rank_count);
    EXPECT_EQ(std::ranges::count(many, std::int64_t{round} * rank_count), 3000);
  }
  EXPECT_EQ(end->traffic().messages, 0u);
}

TEST_P(EndpointTest, ConnectsWhatAllRanksHavePreparedOrNothing) {
  for (Rank unprepared = 0; unprepared <= rank_count; ++unprepared) {
    world().connect(rank != unprepared);
    EXPECT_EQ(finish(world()), unprepared == rank_count ? Connection::connected : Connection::failed);
  }
}

/// What goes by letters and what does not, to every rank, also when the letters run ahead.
TEST_P(EndpointTest, SmallAndLargeSlotsServeAllRanks) {
  const std::vector<Bytes> of_a_rank = {8, 112, 113, 4096, 4097, 100000};
  std::vector<Bytes> capacities;
  for (Rank i = 0; i < rank_count; ++i) capacities.insert(capacities.end(), of_a_rank.begin(), of_a_rank.end());
  const auto slots = static_cast<SlotNumber>(of_a_rank.size());
  const auto all = static_cast<Ticket>(capacities.size());
  const auto end = bind(capacities, 2 * all);
  for (int round = 0; round < (rank_count > 3 ? 6 : 20); ++round) {
    std::vector<std::vector<std::byte>> own;
    for (SlotNumber i = 0; i < all; ++i) end->release(i, static_cast<Rank>(i / slots), i);
    for (SlotNumber i = 0; i < all; ++i) {
      const Bytes size = (i + static_cast<Bytes>(round)) % 3 == 0 ? of_a_rank[i % slots] : of_a_rank[i % slots] / 2;
      own.push_back(pattern(size, rank, static_cast<int>(i % slots) + round));
      end->put(all + i, static_cast<Rank>(i / slots), static_cast<SlotNumber>(rank) * slots + i % slots, own.back());
    }
    for (Ticket i = 2 * all; i-- > 0;) {
      Bytes arrived = 0;
      ASSERT_EQ(finish(*end, i, arrived), Progress::complete) << i;
      if (i >= all) continue;
      const SlotNumber sent = static_cast<SlotNumber>(rank) * slots + i % slots;
      const Bytes size = (sent + static_cast<Bytes>(round)) % 3 == 0 ? of_a_rank[i % slots] : of_a_rank[i % slots] / 2;
      ASSERT_EQ(arrived, size);
      ASSERT_TRUE(std::ranges::equal(end->landing(i).first(arrived),
                                     pattern(size, static_cast<Rank>(i / slots), static_cast<int>(i % slots) + round)));
    }
  }
}

std::string name_of(const testing::TestParamInfo<Way>& way) {
  const char* const names[] = {"mpi", "rma", "rma_loads", "shared", "nodes_of_two", "nodes_dealt"};
  return names[static_cast<std::size_t>(way.param)];
}

INSTANTIATE_TEST_SUITE_P(Over, EndpointTest,
                         testing::Values(Way::mpi, Way::rma, Way::rma_loads, Way::shared, Way::nodes_of_two,
                                         Way::nodes_dealt),
                         name_of);

}  // namespace
}  // namespace steadfold::transport::endpoint_test
