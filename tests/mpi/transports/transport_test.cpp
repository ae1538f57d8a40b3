// The MPI transport between real processes: set-up, large messages, tags, and what is kept on communicators. Runs on
// any number of ranks. See endpoint_test.cpp for what every transport promises.
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

#include "mpi/run_ranks.hpp"
#include "mpi/transports/messages.hpp"
#include "transport/mpi/mpi.hpp"

namespace steadfold::transport {
namespace {

/// Zeros whose pages are not there before they are written.
using Untouched = std::unique_ptr<std::byte, decltype(&std::free)>;
Untouched untouched(Bytes size) { return {static_cast<std::byte*>(std::calloc(size, 1)), std::free}; }

/// A transport over all ranks, and its neighbours in a ring.
class MpiTransportTest : public testing::Test {
 protected:
  MpiTransport world{MPI_COMM_WORLD};
  Rank rank = world.rank();
  Rank rank_count = world.rank_count();
  Rank left = (rank + rank_count - 1) % rank_count;
  Rank right = (rank + 1) % rank_count;

  std::unique_ptr<Tested> bind(std::vector<Bytes> capacities, Ticket tickets, std::uint32_t tag = 1) {
    return std::make_unique<Tested>(world.prepare(tag, capacities, tickets, WordOrder::of_endpoints), tickets);
  }
};

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

/// What MPI says by its own means: ranks share a node if they have a window of shared memory together.
TEST_F(MpiTransportTest, TellsWhichRanksShareANode) {
  MPI_Comm node = MPI_COMM_NULL;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  int on_node = 0;
  MPI_Comm_size(node, &on_node);
  MPI_Comm_free(&node);
  const std::span<const Rank> labels = world.node_labels();
  EXPECT_EQ(world.are_on_one_node(), on_node == world.rank_count());
  if (on_node == world.rank_count()) {
    EXPECT_TRUE(labels.empty());
  } else {
    ASSERT_EQ(labels.size(), static_cast<std::size_t>(world.rank_count()));
    EXPECT_EQ(std::ranges::count(labels, labels[static_cast<std::size_t>(world.rank())]), on_node);
  }
}

TEST_F(MpiTransportTest, RefusesToGatherMoreThanAnIntCanCount) {
  const Bytes size = rank == 0 ? Bytes{1} << 31 : 1;
  const Untouched memory = untouched(size);
  const std::string expected =
      "the layouts cannot be gathered (" + std::to_string((std::int64_t{1} << 31) + rank_count - 1) + " bytes over";
  EXPECT_EQ(error_of([&] { world.gather_all({memory.get(), size}); }).find(expected), 0u);
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
    endpoint = transport->prepare(0, std::vector<Bytes>{8}, 1, WordOrder::of_endpoints);
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
  return static_cast<Kept&>(attach(comm, [](std::unique_ptr<MpiTransport> transport) -> std::unique_ptr<Attached> {
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
  int rank_count = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &rank_count);
  come_and_go(MPI_COMM_SELF, rank_count == 1 ? 5000 : 100);
  come_and_go(MPI_COMM_WORLD, 50);  // milliseconds each where ranks outnumber cores
}

TEST(Attach, SurvivesAMakerThatThrows) {
  MPI_Comm comm = duplicate(MPI_COMM_WORLD);
  const auto fails = [](std::unique_ptr<MpiTransport>) -> std::unique_ptr<Attached> {
    throw std::runtime_error("none");
  };
  EXPECT_EQ(error_of([&] { attach(comm, fails); }), "none");
  EXPECT_EQ(&kept_on(comm), &kept_on(comm));
  MPI_Comm_free(&comm);
}

TEST(Attach, RefusesWhatHasNoRankOrder) {
  EXPECT_EQ(
      error_of([] { kept_on(MPI_COMM_NULL); }),
      "no reduction over MPI_COMM_NULL (it has no ranks), call only on ranks that are members of the communicator");

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
  if (steadfold::tests::only_lists(argc, argv)) return 0;
  bool good = check(refuses("(MPI is not initialised), call MPI_Init"), "a call before MPI_Init is refused");
  MPI_Init(&argc, &argv);
  const int failed = steadfold::tests::run_all(argc, argv);

  // MPI_COMM_WORLD, MPI_COMM_SELF and a communicator nobody frees still have something attached at the end.
  kept_on(MPI_COMM_SELF);
  kept_on(MPI_COMM_WORLD);
  kept_on(duplicate(MPI_COMM_WORLD));
  MPI_Finalize();
  good &= check(Kept::made == Kept::gone, "everything attached goes while MPI still works");
  good &= check(refuses("(MPI is finalised), reduce before MPI_Finalize"), "a call after it is refused");
  return good ? failed : 1;
}
