// What every transport between real processes promises: exchange, order, failures, sums, connections. Over messages,
// and over windows that are read atomically or by plain loads. Runs on any number of ranks.
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

#include "messages.hpp"
#include "run_ranks.hpp"
#include "transport/mpi_rma.hpp"

namespace steadfold::transport {
namespace {

/// How bytes move; none: by messages.
using Way = std::optional<Reads>;

/// A transport over all ranks, and its neighbours in a ring.
class EndpointTest : public testing::TestWithParam<Way> {
 protected:
  void SetUp() override {
    auto messages = std::make_unique<MpiTransport>(MPI_COMM_WORLD);
    rank = messages->rank();
    rank_count = messages->rank_count();
    left = (rank + rank_count - 1) % rank_count;
    right = (rank + 1) % rank_count;
    if (!GetParam()) {
      world_ = std::move(messages);
      return;
    }
    const RmaSettings settings = {.reads = *GetParam()};
    window_ = make_window(messages->comm(), settings.pool, settings.reads);
    world_ = std::make_unique<RmaTransport>(std::move(messages), window_, settings);
  }
  void TearDown() override {
    world_.reset();
    if (!window_) return;
    window_->end();
    EXPECT_TRUE(window_->has_ended());
  }

  Transport& world() { return *world_; }
  /// Connected, if every rank does the same.
  std::unique_ptr<Tested> bind(std::vector<Bytes> capacities, Ticket tickets, std::uint32_t tag = 1) {
    auto end = std::make_unique<Tested>(world_->prepare(tag, capacities, tickets), tickets);
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
  for (const Bytes size : {Bytes{0}, Bytes{1}, Bytes{8}, Bytes{5000}, Bytes{1} << 20, Bytes{3} << 20}) {
    const auto end = bind({size + 3}, 2);
    for (int round = 0; round < 5; ++round) {
      const std::vector<std::byte> own = pattern(size, rank, round);
      Bytes arrived = 99;
      end->release(0, left, 0);
      end->put(1, right, 0, own);
      EXPECT_EQ(finish(*end, 0, arrived), Progress::complete);
      EXPECT_EQ(arrived, size);
      EXPECT_TRUE(std::ranges::equal(end->landing(0).first(size), pattern(size, left, round))) << size;
      EXPECT_EQ(finish(*end, 1, arrived), Progress::complete);
    }
    EXPECT_EQ(end->traffic().messages, 5u);
    EXPECT_EQ(end->traffic().bytes, 5 * size);
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
  for (const Bytes size : {Bytes{0}, Bytes{8}, Bytes{5000}, Bytes{3} << 20}) {
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

INSTANTIATE_TEST_SUITE_P(Over, EndpointTest, testing::Values(Way(), Way(Reads::atomically), Way(Reads::by_loads)),
                         [](const testing::TestParamInfo<Way>& way) -> std::string {
                           if (!way.param) return "mpi";
                           return *way.param == Reads::by_loads ? "rma_loads" : "rma";
                         });

}  // namespace
}  // namespace steadfold::transport

int main(int argc, char** argv) { return steadfold::tests::run_program(argc, argv); }
