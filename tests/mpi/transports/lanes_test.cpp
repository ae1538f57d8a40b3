// What passes through a window: words that come one by one, credits, numbers that wrap around, and words that are
// handed out again only when nobody can still write them. Runs on any number of ranks.
#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "mpi/ranks.hpp"
#include "mpi/transports/messages.hpp"
#include "transport/mpi/rma.hpp"

namespace steadfold::transport::lanes_test {
namespace {

constexpr std::uint64_t period_end = (std::uint64_t{1} << 32) * Lanes::mailboxes;  // numbers begin again

/// A rank's lane to itself, whose words the test may write too. One rank shows as much as many.
class LaneTest : public testing::Test {
 protected:
  void SetUp() override {
    if (tests::Ranks().size > 1) GTEST_SKIP() << "of one rank";
  }
  void make(const RmaSettings& settings, const std::vector<Bytes>& capacities) {
    window = make_window(MPI_COMM_SELF, settings.window_bytes, settings.reads);
    lanes = std::make_unique<Lanes>(window, 0, 1, capacities, settings);
    lanes->learn(0, lanes->notice(1));
    lanes->connect(0);
  }
  void TearDown() override {
    if (!lanes) return;  // skipped
    lanes->rest(true);
    lanes.reset();
    window->end();
  }

  void finish(MPI_Request request) { MPI_Wait(&request, MPI_STATUS_IGNORE); }
  void write(std::uint64_t mailbox, std::size_t at, const std::vector<Word>& words) {
    const LaneNotice notice = lanes->notice(1);
    MPI_Request request = MPI_REQUEST_NULL;
    ASSERT_EQ(window->write(words, 0, notice.first + 1 + mailbox * notice.mailbox_words + at, request), MPI_SUCCESS);
    finish(request);
  }
  std::optional<std::vector<std::byte>> look() {
    for (int i = 0; i < 100; ++i) {  // a read may take several looks
      const auto found = lanes->look(0);
      if (!found) continue;
      EXPECT_FALSE(found->failed);
      std::vector<std::byte> bytes(found->words.size() * 4);
      for (std::size_t word = 0; word < found->words.size(); ++word)
        std::memcpy(&bytes[4 * word], &found->words[word], 4);
      bytes.resize(found->words.empty() ? 0 : found->size);
      return bytes;
    }
    return std::nullopt;
  }
  bool send(const std::vector<std::byte>& bytes) {
    while (lanes->take_sent()) {
    }
    lanes->look_for_credits();
    return lanes->send(0, 0, bytes) == Lanes::Sending::started;
  }

  std::shared_ptr<Window> window;
  std::unique_ptr<Lanes> lanes;
};

Word word(std::uint32_t data, std::uint32_t number) { return Word{number} << 32 | data; }

TEST_F(LaneTest, AMessageIsThereWhenAllOfItsWordsAre) {
  for (const Reads reads : {Reads::atomically, Reads::by_loads}) {
    if (lanes) TearDown();
    make({.reads = reads}, {400});
    EXPECT_FALSE(look());
    write(0, 2, {word(22, 1)});
    EXPECT_FALSE(look()) << "the first word is missing";
    write(0, 0, {word(12, 1)});
    EXPECT_FALSE(look()) << "two of four words are missing";
    write(0, 3, {word(33, 1)});
    EXPECT_FALSE(look());
    write(0, 1, {word(11, 2)});
    EXPECT_FALSE(look()) << "a word of another message";
    write(0, 1, {word(11, 1)});
    const auto bytes = look();
    ASSERT_TRUE(bytes);
    const std::uint32_t data[] = {11, 22, 33};
    ASSERT_EQ(bytes->size(), sizeof data);
    EXPECT_EQ(std::memcmp(bytes->data(), data, sizeof data), 0);
    lanes->accept(0);
    EXPECT_FALSE(look()) << "it is there once";
  }
}

/// More than is read at first: the rest may come later.
TEST_F(LaneTest, TheEndOfALongMessageMayComeLater) {
  make({}, {400});
  write(0, 0, {word(400, 1)});
  for (std::uint32_t i = 1; i < 100; ++i) write(0, i, {word(i, 1)});
  EXPECT_FALSE(look()) << "the last word is missing";
  write(0, 100, {word(100, 1)});
  const auto bytes = look();
  ASSERT_TRUE(bytes);
  EXPECT_EQ(bytes->size(), 400u);
}

TEST_F(LaneTest, AMessageThatIsTooLargeSaysSo) {
  make({}, {40});
  ASSERT_TRUE(send(pattern(41, 0, 0)));
  ASSERT_TRUE(send(pattern(100000, 0, 0)));
  ASSERT_TRUE(send(pattern(40, 0, 0)));
  for (const Bytes size : {Bytes{41}, Bytes{100000}, Bytes{40}}) {
    std::optional<Lanes::Arrival> found;
    while (!found) found = lanes->look(0);
    EXPECT_EQ(found->size, size);
    EXPECT_EQ(found->words.size(), size == 40 ? 10u : 0u);
    lanes->accept(0);
  }
}

TEST_F(LaneTest, NoMailboxIsWrittenBeforeItsMessageWasTakenOut) {
  make({}, {8});
  int sent = 0;
  for (int taken = 0; taken < 50; ++taken) {
    while (sent < 100 && send(pattern(8, 0, sent))) ++sent;
    EXPECT_EQ(sent, taken + static_cast<int>(Lanes::mailboxes));
    EXPECT_EQ(look(), pattern(8, 0, taken));
    lanes->accept(0);
  }
}

/// Words of long messages stay behind short ones. They must not count when their numbers come again. Every mailbox has
/// some of both before and after. (Each message takes MPICH 5 ms.)
TEST_F(LaneTest, NumbersWrapAround) {
  make({.first = period_end - 40 * Lanes::mailboxes}, {400});
  for (int message = 0; message < 80 * static_cast<int>(Lanes::mailboxes); ++message) {
    const std::vector<std::byte> bytes = pattern(message % 7 == 0 ? 400 : 3, 0, message);
    ASSERT_TRUE(send(bytes));
    ASSERT_EQ(look(), bytes) << message;
    lanes->accept(0);
    ASSERT_FALSE(look()) << message;
  }
}

/// The last words of a mailbox that every message leaves alone would be taken for those of one 2^32 messages later.
TEST_F(LaneTest, NoWordGrowsOld) {
  make({}, {400});
  for (std::uint64_t message = 0; message < 256 * Lanes::mailboxes; ++message) {
    ASSERT_TRUE(send(pattern(message < Lanes::mailboxes ? 400 : 3, 0, 1)));
    ASSERT_TRUE(look()) << message;
    lanes->accept(0);
  }
  const LaneNotice notice = lanes->notice(1);
  std::vector<Word> words(Lanes::mailboxes * notice.mailbox_words);
  MPI_Request request = MPI_REQUEST_NULL;
  ASSERT_EQ(window->read(words, notice.first + 1, request), MPI_SUCCESS);
  finish(request);
  EXPECT_TRUE(std::ranges::all_of(words, [](Word each) { return each >> 32 == 256; }));
}

/// Transports over all ranks, with a small window.
class RmaTest : public testing::Test {
 protected:
  explicit RmaTest() {
    auto messages = std::make_unique<MpiTransport>(MPI_COMM_WORLD);
    words_of_an_end = static_cast<std::uint64_t>(messages->rank_count()) * (1 + Lanes::mailboxes * 26);
    words_of_all = 12 * words_of_an_end;
    const RmaSettings settings = {.window_bytes = words_of_all * sizeof(Word)};
    window = make_window(messages->comm(), settings.window_bytes, settings.reads);
    world = std::make_unique<RmaTransport>(std::move(messages), window, settings);
  }
  void TearDown() override {
    world.reset();
    window->end();
    EXPECT_TRUE(window->has_ended());
  }

  std::unique_ptr<Tested> bind(std::uint32_t tag) {
    auto end =
        std::make_unique<Tested>(world->prepare(tag, std::vector<Bytes>{100, 100}, 4, WordOrder::of_endpoints), 4);
    world->connect(true);
    EXPECT_EQ(transport::finish(*world), Connection::connected);
    return end;
  }
  /// Sends around the ring, and checks what came.
  void exchange(Tested& end, int round) {
    const std::vector<std::byte> own = pattern(100, world->rank(), round);
    end.release(0, left(), 0);
    end.put(1, right(), 0, own);
    EXPECT_EQ(finish(end, 0), Progress::complete);
    EXPECT_EQ(finish(end, 1), Progress::complete);
    EXPECT_TRUE(std::ranges::equal(end.landing(0), pattern(100, left(), round)));
  }
  bool has_words(std::uint64_t count) {
    const auto first = window->take(count);
    if (first) window->give_back(*first, count);
    return first.has_value();
  }
  Rank left() const { return (world->rank() + world->rank_count() - 1) % world->rank_count(); }
  Rank right() const { return (world->rank() + 1) % world->rank_count(); }

  std::uint64_t words_of_an_end;
  std::uint64_t words_of_all;
  std::shared_ptr<Window> window;
  std::unique_ptr<RmaTransport> world;
};

TEST_F(RmaTest, SmallMessagesPassThroughTheWindow) {
  const auto end = bind(1);
  exchange(*end, 0);
  std::vector<Word> words(words_of_an_end);
  MPI_Request request = MPI_REQUEST_NULL;
  ASSERT_EQ(window->read(words, 0, request), MPI_SUCCESS);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  EXPECT_EQ(std::ranges::count(words, word(100, 1)), 1) << "the first word of a message of 100 bytes";
}

TEST_F(RmaTest, EndpointsWithoutRoomInTheWindowAreTwoSided) {
  std::vector<std::unique_ptr<Tested>> ends;
  for (std::uint32_t tag = 0; tag < 30; ++tag) ends.push_back(bind(tag));
  EXPECT_FALSE(has_words(words_of_an_end));
  for (int round = 0; round < 5; ++round)
    for (const auto& end : ends) exchange(*end, round);
}

/// Where one rank has no room, all have none.
TEST_F(RmaTest, OneRankWithoutRoomIsEnough) {
  std::optional<std::uint64_t> all;
  if (world->rank() == world->rank_count() - 1) all = window->take(words_of_all);
  const auto end = bind(1);
  for (int round = 0; round < 5; ++round) exchange(*end, round);
  EXPECT_TRUE(all || has_words(words_of_all));
  if (all) window->give_back(*all, words_of_all);
}

/// Whoever gets them takes what stands there for a message; where it is none, the wait for one has no end.
TEST_F(RmaTest, WordsThatAreTakenAgainAreZero) {
  using Words = std::array<Word, 3>;
  const Words ones = {1, 1, 1};
  const auto read = [&](std::uint64_t first) {
    Words found{};
    MPI_Request request = MPI_REQUEST_NULL;
    EXPECT_EQ(window->read(found, first, request), MPI_SUCCESS);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    return found;
  };
  const auto all = window->take(words_of_all);
  ASSERT_TRUE(all);
  EXPECT_EQ(read(*all), Words{});
  MPI_Request request = MPI_REQUEST_NULL;
  EXPECT_EQ(window->write(ones, world->rank(), *all, request), MPI_SUCCESS);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  for (int round = 0; round < 1000 && read(*all) != ones; ++round) window->make_progress();
  EXPECT_EQ(read(*all), ones);
  window->give_back(*all, words_of_all);
  const auto again = window->take(words_of_all);
  ASSERT_EQ(again, all);
  EXPECT_EQ(read(*again), Words{});
  window->give_back(*again, words_of_all);
}

TEST_F(RmaTest, WordsAreHandedOutAgain) {
  int with_lanes = 0;
  constexpr int count = 60;
  for (int i = 0; i < count; ++i) {
    const auto end = bind(static_cast<std::uint32_t>(i));
    if (!has_words(words_of_all)) ++with_lanes;
    for (int round = 0; round < 6; ++round) exchange(*end, round);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  EXPECT_EQ(with_lanes, count);
}

/// One rank frees its end with a receive open, as one does that has waited too long. The message comes when others hold
/// what its words would have become.
TEST_F(RmaTest, WordsOfAnEndGivenUpRest) {
  auto given_up = bind(0);
  exchange(*given_up, 0);
  if (world->rank() == 0) {
    given_up->release(0, left(), 0);
    given_up.reset();
  }
  std::vector<std::unique_ptr<Tested>> later;
  for (std::uint32_t tag = 1; tag <= 6; ++tag) later.push_back(bind(tag));
  const std::vector<std::byte> stale(100, std::byte{0xA5});
  if (given_up && right() == 0) {
    given_up->put(1, 0, 0, stale);
    EXPECT_EQ(finish(*given_up, 1), Progress::complete);
  }
  for (int round = 0; round < 10; ++round)
    for (const auto& end : later) exchange(*end, round);
  given_up.reset();
  for (std::uint32_t tag = 7; tag < 40; ++tag) exchange(*bind(tag), static_cast<int>(tag));
}

TEST_F(RmaTest, FailedConnectionsCostNoWords) {
  for (std::uint32_t i = 0; i < 50; ++i) {
    const auto end = world->prepare(i, std::vector<Bytes>{100}, 2, WordOrder::of_endpoints);
    world->connect(world->rank() != 0);
    EXPECT_EQ(transport::finish(*world), Connection::failed);
    EXPECT_TRUE(has_words(words_of_all));
  }
}

/// The window stays as long as an endpoint lives anywhere.
TEST_F(RmaTest, AWindowInUseIsNotFreed) {
  auto end = bind(1);
  if (world->rank() != 0) end.reset();
  window->end();
  EXPECT_FALSE(window->has_ended());
  end.reset();
}

}  // namespace
}  // namespace steadfold::transport::lanes_test
