// Memory taken from the library: pieces that do not overlap, all zero, given back and taken again; seen by another
// process.
#include "transport/shared/arenas.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstring>
#include <fstream>
#include <random>
#include <string>
#include <vector>

namespace steadfold::transport::arena_test {
namespace {

constexpr std::uint64_t seed = 20261122;

TEST(Arena, GivesZerosThatNobodyElseHas) {
  constexpr Bytes all = 64 * Arena::page;
  Arena arena(all);
  std::mt19937_64 random(seed);
  struct Taken {
    std::byte* memory;
    Bytes bytes;
  };
  std::vector<Taken> taken;
  int refused = 0;
  for (int step = 0; step < 3000; ++step) {
    if (random() % 2 == 0 && !taken.empty()) {
      std::swap(taken[random() % taken.size()], taken.back());
      const auto [memory, bytes] = taken.back();
      for (Bytes i = 0; i < bytes; ++i) ASSERT_EQ(memory[i], std::byte{0x5A}) << "seed " << seed;
      ASSERT_TRUE(arena.give_back(memory));
      taken.pop_back();
      continue;
    }
    const Bytes bytes = random() % (9 * Arena::page);
    std::byte* const memory = arena.take(bytes);
    if (memory == nullptr) {
      ++refused;
      continue;
    }
    ASSERT_EQ(reinterpret_cast<std::uintptr_t>(memory) % Arena::page, 0u);
    for (Bytes i = 0; i < bytes; ++i) ASSERT_EQ(memory[i], std::byte{0}) << "seed " << seed;
    std::memset(memory, 0x5A, bytes);
    taken.push_back({memory, bytes});
  }
  EXPECT_GT(refused, 0) << "it was never full";
  EXPECT_EQ(arena.take(all + 1), nullptr);
  EXPECT_EQ(arena.take(~Bytes{0}), nullptr);
}

TEST(Arena, KnowsWhatIsItsOwn) {
  Arena arena(16 * Arena::page);
  std::byte* const first = arena.take(100);
  std::byte* const second = arena.take(Arena::page);
  EXPECT_EQ(*arena.offset_of(second, Arena::page) - *arena.offset_of(first, 100), Bytes(second - first));
  EXPECT_EQ(arena.offset_of(arena.base() + 16 * Arena::page - 8, 9), std::nullopt) << "over its end";
  EXPECT_TRUE(arena.offset_of(arena.base() + 16 * Arena::page - 8, 8));
  EXPECT_EQ(arena.offset_of(arena.base() - 1, 1), std::nullopt);
  std::byte other{};
  EXPECT_EQ(arena.offset_of(&other, 1), std::nullopt);
  EXPECT_EQ(arena.offset_of(nullptr, 0), std::nullopt);
  EXPECT_FALSE(arena.give_back(&other));
  EXPECT_FALSE(arena.give_back(first + Arena::page / 2)) << "the middle of something";
  EXPECT_TRUE(arena.give_back(first));
  EXPECT_FALSE(arena.give_back(first)) << "twice";
}

/// A process that did not inherit it maps it by name, and what both write is seen by both.
/// Those without a name, of this process.
std::size_t mapped_files() {
  std::ifstream maps("/proc/self/maps");
  std::size_t count = 0;
  for (std::string line; std::getline(maps, line);) count += line.find("/memfd:") != std::string::npos ? 1 : 0;
  return count;
}

TEST(Arena, IsSeenByAnotherProcess) {
  Arena arena(Bytes{1} << 36);  // pages are only there once they are written
  auto* const number = reinterpret_cast<volatile int*>(arena.take(sizeof(int)));
  ASSERT_NE(number, nullptr);
  *number = 6;
  const ArenaFile file = arena.file();
  const Bytes offset = *arena.offset_of(reinterpret_cast<std::byte*>(const_cast<int*>(number)), sizeof(int));
  const pid_t child = fork();
  if (child == 0) {
    munmap(arena.base(), file.bytes);
    close(file.file.descriptor);
    const std::size_t before = mapped_files();
    auto view = ArenaView::of(file);
    if (view == nullptr || view != ArenaView::of(file)) _exit(1);
    auto* const seen = reinterpret_cast<volatile int*>(view->at(offset));
    if (*seen != 6) _exit(2);
    *seen = 7;
    view.reset();
    _exit(mapped_files() == before ? 0 : 3);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(*number, 7);
  ArenaFile wrong = file;
  wrong.file.number += 1;
  EXPECT_EQ(ArenaView::of(wrong), nullptr) << "another file under the same number";
}

/// While the first is in use the second is still another.
TEST(Arena, ViewsAreOfTheFilesAskedFor) {
  Arena first(1 << 16), second(1 << 16);
  const auto of_first = ArenaView::of(first.file()), of_second = ArenaView::of(second.file());
  ASSERT_NE(of_first, nullptr);
  ASSERT_NE(of_second, nullptr);
  EXPECT_EQ(of_first->file(), first.file());
  EXPECT_EQ(of_second->file(), second.file());
  EXPECT_EQ(ArenaView::of(first.file()), of_first);
}

TEST(Arena, OfThisProcessOutlivesItsViews) {
  std::byte* const memory = Arena::own().take(10);
  ASSERT_NE(memory, nullptr);
  EXPECT_NE(ArenaView::of(Arena::own().file()), nullptr);  // and gone
  *memory = std::byte{7};
  EXPECT_TRUE(Arena::own().give_back(memory));
}

/// What a child of fork takes is not the parent's.
TEST(Arena, OfAChildIsItsOwn) {
  std::byte* const before = Arena::own().take(10);
  ASSERT_NE(before, nullptr);
  EXPECT_EQ(Arena::if_made(), &Arena::own());
  const pid_t child = fork();
  if (child == 0) {
    std::byte* const own = Arena::own().take(10);
    _exit(own == nullptr || Arena::own().file() == ArenaFile{} || Arena::own().offset_of(before, 10) ? 1 : 0);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(Arena::own().give_back(before));
}

/// Two ranks, of which the other one shows `file`.
struct OfTwoRanks {
  Arenas arenas{2};
  std::byte* memory = Arena::own().take(100);
  ArenaFile file = Arena::own().file();

  ~OfTwoRanks() { Arena::own().give_back(memory); }
  std::vector<InArena> shown(std::uint64_t seen_by_other) const {
    return {arenas.show(memory, 50, memory + 50, 50), {.row = 0, .result = 4096, .file = file, .seen = seen_by_other}};
  }
};

TEST(Arenas, AreSeenOnceAllHaveMappedThem) {
  OfTwoRanks two;
  EXPECT_EQ(Arenas::are_seen(two.shown(Arenas::untried)), Arenas::Seen::untried);
  two.arenas.map(two.shown(Arenas::untried));
  const std::uint64_t seen = two.shown(0)[0].seen;
  EXPECT_EQ(Arenas::are_seen(two.shown(Arenas::untried)), Arenas::Seen::untried);
  EXPECT_EQ(Arenas::are_seen(two.shown(seen)), Arenas::Seen::by_all);
  EXPECT_EQ(Arenas::are_seen(two.shown(seen ^ 4)), Arenas::Seen::not_by_all) << "it has mapped others";
  EXPECT_EQ(Arenas::are_seen(two.shown(Arenas::failed)), Arenas::Seen::not_by_all);
  const std::vector<InArena> shown = two.shown(seen);
  EXPECT_EQ(two.arenas.at(0, shown[0].row), two.memory);
  EXPECT_EQ(two.arenas.at(1, shown[0].result), two.memory + 50);
  two.file.bytes += 4096;
  EXPECT_EQ(Arenas::are_seen(two.shown(seen)), Arenas::Seen::not_by_all) << "what is shown now is another file";
}

TEST(Arenas, ThatCannotBeMappedAreNotTriedAgain) {
  OfTwoRanks two;
  two.file.file.number += 1;
  two.arenas.map(two.shown(Arenas::untried));
  EXPECT_EQ(two.shown(0)[0].seen, Arenas::failed);
  EXPECT_EQ(Arenas::are_seen(two.shown(Arenas::failed)), Arenas::Seen::not_by_all);
  two.file = Arena::own().file();
  two.arenas.map(two.shown(Arenas::untried));
  EXPECT_EQ(two.shown(0)[0].seen, Arenas::failed);
}

TEST(Arenas, ShowWhatIsAllInThem) {
  const OfTwoRanks two;
  std::vector<std::byte> other(100);
  EXPECT_EQ(two.arenas.show(other.data(), 50, two.memory, 50).file, ArenaFile{});
  EXPECT_EQ(two.arenas.show(two.memory, 50, other.data(), 50).file, ArenaFile{});
  EXPECT_EQ(two.arenas.show(two.memory, 50, nullptr, 50).file, ArenaFile{});
  EXPECT_EQ(Arenas::are_seen(std::vector{two.shown(0)[0], InArena{}}), Arenas::Seen::not_by_all);
}

}  // namespace
}  // namespace steadfold::transport::arena_test
