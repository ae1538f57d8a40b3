// The MPI transport between real processes: exchange, order, failures, sums, and what is kept on communicators.
// Runs on any number of ranks.
#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "run_ranks.hpp"
#include "support/tested.hpp"
#include "transport/mpi.hpp"

namespace steadfold::transport {
namespace {

Progress finish(Tested& endpoint, Ticket ticket, Bytes& arrived) {
  Progress progress = Progress::pending;
  while (progress == Progress::pending) progress = endpoint.test(ticket, arrived);
  return progress;
}

Progress finish(Tested& endpoint, Ticket ticket) {
  Bytes arrived = 0;
  return finish(endpoint, ticket, arrived);
}

std::vector<std::byte> pattern(Bytes size, Rank rank, int round) {
  std::vector<std::byte> bytes(size);
  for (Bytes i = 0; i < size; ++i) {
    bytes[i] = static_cast<std::byte>(i * 7 + static_cast<Bytes>(rank) * 31 + static_cast<Bytes>(round));
  }
  return bytes;
}

/// Zeros whose pages are not there before they are written.
using Untouched = std::unique_ptr<std::byte, decltype(&std::free)>;
Untouched untouched(Bytes size) { return {static_cast<std::byte*>(std::calloc(size, 1)), std::free}; }

/// The message of the std::runtime_error that `call` throws.
template <class Call>
std::string error_of(Call call) {
  try {
    call();
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "no error";
}

/// A transport over all ranks, and its neighbours in a ring.
class MpiTransportTest : public testing::Test {
 protected:
  MpiTransport world{MPI_COMM_WORLD};
  Rank rank = world.rank();
  Rank rank_count = world.rank_count();
  Rank left = (rank + rank_count - 1) % rank_count;
  Rank right = (rank + 1) % rank_count;

  std::unique_ptr<Tested> bind(std::vector<Bytes> capacities, Ticket tickets, std::uint32_t tag = 1) {
    return std::make_unique<Tested>(world.prepare(tag, capacities, tickets), tickets);
  }
};

TEST_F(MpiTransportTest, ExchangesMessagesOfAnySizeInARing) {
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

TEST_F(MpiTransportTest, MessagesOfAPairArriveInTheOrderPut) {
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
TEST_F(MpiTransportTest, ManyCommunicationsMayBeOpen) {
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

TEST_F(MpiTransportTest, MessagesInTwoPartsLandInTwoPlaces) {
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

TEST_F(MpiTransportTest, EndpointsDoNotMix) {
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

TEST_F(MpiTransportTest, AMessageThatDoesNotFitFailsAndTheNextArrives) {
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

TEST_F(MpiTransportTest, AnErrorOfTheLibraryIsAFailedTicket) {
  const auto end = bind({8}, 2);
  const std::byte byte{};
  end->put(0, rank_count, 0, {&byte, 1});
  end->release(1, rank_count, 0);
  Bytes arrived = 0;
  EXPECT_EQ(end->test(0, arrived), Progress::failed);
  EXPECT_EQ(end->test(1, arrived), Progress::failed);
}

TEST_F(MpiTransportTest, AnEndpointThatGoesWithdrawsItsReleases) {
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

TEST_F(MpiTransportTest, AddsWordsOfAllRanksAndWrapsAround) {
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

TEST_F(MpiTransportTest, GathersUnevenShares) {
  const auto size_of = [](Rank source) { return static_cast<Bytes>(source % 3 == 0 ? 0 : 5 * source); };
  const Transport::Gathered all = world.gather_all(pattern(size_of(rank), rank, 3));
  ASSERT_EQ(all.first.size(), static_cast<std::size_t>(rank_count) + 1);
  EXPECT_EQ(all.first.back(), all.bytes.size());
  for (Rank source = 0; source < rank_count; ++source) {
    const auto i = static_cast<std::size_t>(source);
    const auto share = std::span(all.bytes).subspan(all.first[i], all.first[i + 1] - all.first[i]);
    EXPECT_TRUE(std::ranges::equal(share, pattern(size_of(source), source, 3))) << source;
  }
  EXPECT_TRUE(world.gather_all({}).bytes.empty());
}

TEST_F(MpiTransportTest, RefusesToGatherMoreThanAnIntCanCount) {
  const Bytes size = rank == 0 ? Bytes{1} << 31 : 1;
  const Untouched memory = untouched(size);
  const std::string expected =
      "nothing gathered (" + std::to_string((std::int64_t{1} << 31) + rank_count - 1) + " bytes over";
  EXPECT_EQ(error_of([&] { world.gather_all({memory.get(), size}); }).find(expected), 0u);
}

TEST_F(MpiTransportTest, ConnectsWhatAllRanksHavePreparedOrNothing) {
  for (Rank unprepared = 0; unprepared <= rank_count; ++unprepared) {
    world.connect(rank != unprepared);
    Connection state = Connection::pending;
    while (state == Connection::pending) state = world.connected();
    EXPECT_EQ(state, unprepared == rank_count ? Connection::connected : Connection::failed);
  }
}

TEST_F(MpiTransportTest, TagsEndWhereTheLibrarySays) {
  const auto beyond = std::numeric_limits<std::uint32_t>::max();
  EXPECT_NE(error_of([&] { bind({}, 1, beyond); }).find("(the MPI library's tags end at "), std::string::npos);
}

TEST_F(MpiTransportTest, MovesMoreThanAnIntCanCount) {
  if (rank_count > 1) return;  // once is enough: it takes 4 GiB
  const Bytes size = (Bytes{1} << 31) + 12345;
  const auto end = bind({size + 1}, 2);
  const Untouched memory = untouched(size);
  const std::span own(memory.get(), size);
  own[0] = std::byte{1};
  own[size - 1] = std::byte{2};
  Bytes arrived = 0;
  end->release(0, 0, 0);
  end->put(1, 0, 0, own);
  EXPECT_EQ(finish(*end, 0, arrived), Progress::complete);
  EXPECT_EQ(finish(*end, 1), Progress::complete);
  EXPECT_EQ(arrived, size);
  EXPECT_EQ(end->landing(0)[0], own[0]);
  EXPECT_EQ(end->landing(0)[size - 1], own[size - 1]);
  end->release(0, 0, 0);  // the same slot, a small message
  end->put(1, 0, 0, own.first(9));
  EXPECT_EQ(finish(*end, 0, arrived), Progress::complete);
  EXPECT_EQ(finish(*end, 1), Progress::complete);
  EXPECT_EQ(arrived, 9u);
}

std::uint32_t taken(Transport& world, std::uint32_t count) {
  for (;;)
    if (const auto first = world.new_tags(count)) return *first;
}

/// A message may still come for an endpoint that one rank gave up: no rank is to meet it under another one's tag.
TEST_F(MpiTransportTest, TagsOfEndpointsGivenUpWithMessagesUnderWayAreNotHandedOutAgain) {
  int* last = nullptr;
  int known = 0;
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &last, &known);
  ASSERT_NE(known, 0);
  const std::uint32_t given_up = *world.new_tags(1);
  const std::uint32_t done = *world.new_tags(1);
  {
    const auto one = bind({8}, 1, given_up);
    if (rank == rank_count - 1) one->release(0, left, 0);
    const auto other = bind({8}, 2, done);
    const std::byte byte{};
    other->release(0, left, 0);
    other->put(1, right, 0, {&byte, 1});
    EXPECT_EQ(finish(*other, 0), Progress::complete);
    EXPECT_EQ(finish(*other, 1), Progress::complete);
  }
  taken(world, static_cast<std::uint32_t>(*last) - done);  // all that are left: they start over
  std::vector<std::uint32_t> again;
  for (std::uint32_t i = 0; i < done + 3; ++i) again.push_back(taken(world, 1));
  EXPECT_EQ(std::ranges::count(again, given_up), 0);
  EXPECT_EQ(std::ranges::count(again, done), 1) << "a tag that nobody holds comes back";
}

/// Something attached that counts its kind, and whether MPI still worked when it went.
class Kept : public Attached {
 public:
  explicit Kept(std::unique_ptr<Transport> given) : transport(std::move(given)) {
    made += 1;
    endpoint = transport->prepare(0, std::vector<Bytes>{8}, 1);
    endpoint->release(0, transport->rank(), 0);  // stays pending: its end must withdraw it
  }
  ~Kept() override {
    int finalized = 0;
    MPI_Finalized(&finalized);
    gone += finalized ? 0 : 1;
  }

  std::unique_ptr<Transport> transport;
  std::unique_ptr<Endpoint> endpoint;

  static inline int made = 0;
  static inline int gone = 0;  // while MPI worked
};

Kept& kept_on(MPI_Comm comm) {
  return static_cast<Kept&>(attach(comm, [](std::unique_ptr<Transport> transport) -> std::unique_ptr<Attached> {
    return std::make_unique<Kept>(std::move(transport));
  }));
}

MPI_Comm duplicate(MPI_Comm comm) {
  MPI_Comm made = MPI_COMM_NULL;
  MPI_Comm_dup(comm, &made);
  return made;
}

TEST(Attach, KeepsOneOnEachCommunicator) {
  const int made = Kept::made;
  Kept& world = kept_on(MPI_COMM_WORLD);
  Kept& self = kept_on(MPI_COMM_SELF);
  EXPECT_NE(&world, &self);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(&kept_on(MPI_COMM_WORLD), &world);
    EXPECT_EQ(&kept_on(MPI_COMM_WORLD), &world);
    EXPECT_EQ(&kept_on(MPI_COMM_SELF), &self);
  }
  EXPECT_EQ(Kept::made, made + 2);
  EXPECT_EQ(self.transport->rank_count(), 1);
}

TEST(Attach, DuplicatesStartWithout) {
  Kept& world = kept_on(MPI_COMM_WORLD);
  const int gone = Kept::gone;
  MPI_Comm copy = duplicate(MPI_COMM_WORLD);
  EXPECT_NE(&kept_on(copy), &world);
  MPI_Comm_free(&copy);
  EXPECT_EQ(Kept::gone, gone + 1);
  EXPECT_EQ(&kept_on(MPI_COMM_WORLD), &world);
}

TEST(Attach, SplitCommunicatorsHaveTheirOwnRanks) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm part = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &part);
  Kept& kept = kept_on(part);
  int part_rank = 0;
  int part_size = 0;
  MPI_Comm_rank(part, &part_rank);
  MPI_Comm_size(part, &part_size);
  EXPECT_EQ(kept.transport->rank(), part_rank);
  EXPECT_EQ(kept.transport->rank_count(), part_size);
  const auto own = static_cast<std::byte>(rank);
  const Transport::Gathered all = kept.transport->gather_all({&own, 1});
  EXPECT_EQ(all.bytes.size(), static_cast<std::size_t>(part_size));
  EXPECT_EQ(all.bytes[static_cast<std::size_t>(part_rank)], own);
  MPI_Comm_free(&part);
}

/// Uses and frees duplicates, which often get the handle of the one just freed.
void come_and_go(MPI_Comm comm, int cycles) {
  const int made = Kept::made;
  const int gone = Kept::gone;
  for (int cycle = 1; cycle <= cycles; ++cycle) {
    MPI_Comm copy = duplicate(comm);
    Kept& kept = kept_on(copy);
    EXPECT_EQ(&kept_on(copy), &kept);
    EXPECT_EQ(Kept::made, made + cycle);
    MPI_Comm_free(&copy);
    EXPECT_EQ(Kept::gone, gone + cycle);
  }
}

TEST(Attach, ThousandsComeAndGo) {
  come_and_go(MPI_COMM_SELF, 5000);
  come_and_go(MPI_COMM_WORLD, 50);  // milliseconds each where ranks outnumber cores
}

TEST(Attach, SurvivesAMakerThatThrows) {
  MPI_Comm comm = duplicate(MPI_COMM_WORLD);
  const auto fails = [](std::unique_ptr<Transport>) -> std::unique_ptr<Attached> { throw std::runtime_error("none"); };
  EXPECT_EQ(error_of([&] { attach(comm, fails); }), "none");
  EXPECT_EQ(&kept_on(comm), &kept_on(comm));
  MPI_Comm_free(&comm);
}

TEST(Attach, RefusesWhatHasNoRankOrder) {
  EXPECT_EQ(error_of([] { kept_on(MPI_COMM_NULL); }),
            "no reduction over MPI_COMM_NULL (it has no ranks), call on the members of the communicator only");

  int rank = 0;
  int rank_count = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &rank_count);
  if (rank_count == 1) return;
  MPI_Comm half = MPI_COMM_NULL;
  MPI_Comm between = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 0, &between);
  EXPECT_EQ(error_of([&] { kept_on(between); }),
            "no reduction over an intercommunicator (its two groups have no common rank order), make one communicator "
            "of both with MPI_Intercomm_merge");
  MPI_Comm_free(&between);
  MPI_Comm_free(&half);
}

TEST(MpiLibrary, SaysItsNameOnOneLine) {
  EXPECT_FALSE(mpi_library().empty());
  EXPECT_EQ(mpi_library().find('\n'), std::string::npos);
}

/// What no test between MPI_Init and MPI_Finalize can see; false, and a line, where it is wrong.
bool check(bool condition, const char* what) {
  if (!condition) std::printf("FAILED: %s\n", what);
  return condition;
}

bool refuses(const char* reason) {
  return error_of([] { kept_on(MPI_COMM_WORLD); }).find(reason) != std::string::npos;
}

}  // namespace
}  // namespace steadfold::transport

int main(int argc, char** argv) {
  using namespace steadfold::transport;
  bool good = check(refuses("(MPI is not initialised), call MPI_Init"), "a call before MPI_Init is refused");
  MPI_Init(&argc, &argv);
  const int failed = steadfold::tests::run_all(argc, argv);

  // MPI_COMM_WORLD, MPI_COMM_SELF and a communicator nobody frees still have something attached at the end.
  kept_on(MPI_COMM_SELF);
  kept_on(MPI_COMM_WORLD);
  kept_on(duplicate(MPI_COMM_WORLD));
  MPI_Finalize();
  good &= check(Kept::made == Kept::gone, "everything attached goes while MPI still works");
  good &= check(refuses("(MPI is finalised), make the call before MPI_Finalize"), "a call after it is refused");
  return good ? failed : 1;
}
