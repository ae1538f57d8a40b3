// Memory from the library: what careless callers do, containers, and a system that shares none.
#include "steadfold/memory.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "steadfold/plan.hpp"
#include "support/hostile.hpp"
#include "support/in_a_process.hpp"
#include "support/on_team.hpp"
#include "support/parts.hpp"

namespace steadfold::test::memory_test {
namespace {

TEST(Memory, OfCarelessCallers) {
  EXPECT_EQ(sf_allocate(8, nullptr), SF_INVALID_ARGUMENT);
  void* memory = nullptr;
  EXPECT_EQ(sf_allocate(~std::uint64_t{0}, &memory), SF_INTERNAL);
  EXPECT_NE(std::string(sf_error_text()).find("no -1 bytes of memory"), std::string::npos);
  EXPECT_EQ(memory, nullptr);
  ASSERT_EQ(sf_allocate(0, &memory), SF_OK);
  void* other = nullptr;
  ASSERT_EQ(sf_allocate(0, &other), SF_OK);
  EXPECT_NE(memory, other);
  sf_free(memory);
  sf_free(other);
  sf_free(nullptr);
  for (const std::size_t count : {SIZE_MAX / 4, SIZE_MAX / sizeof(double) + 2}) {  // the bytes of the latter wrap to 8
    EXPECT_THROW(sf::allocate<double>(count), std::exception);
    EXPECT_THROW((void)Allocator<double>().allocate(count), std::bad_alloc);
  }
}

TEST(Memory, HoldsElements) {
  auto some = sf::allocate<double>(1000);
  EXPECT_TRUE(std::ranges::all_of(some, [](double each) { return each == 0; }));
  some[999] = 5;
  auto moved = std::move(some);
  EXPECT_EQ(some.size(), 0u);
  EXPECT_EQ(moved[999], 5);
  moved = sf::allocate<double>(3);
  EXPECT_EQ(moved.size(), 3u);
  std::vector<int, Allocator<int>> grown;
  for (int i = 0; i < 100000; ++i) grown.push_back(i);
  for (int i = 0; i < 100000; ++i) ASSERT_EQ(grown[static_cast<std::size_t>(i)], i);
}

/// A child of fork may free it, before or behind memory of its own: the parent keeps what is in it.
TEST(Memory, ThatAChildInheritedStaysTheParents) {
  auto memory = sf::allocate<double>(1000);
  memory[999] = 5;
  const pid_t child = fork();
  if (child == 0) {
    sf_free(memory.data());
    void* own = nullptr;
    const bool is_made = sf_allocate(8, &own) == SF_OK && own != memory.data();
    sf_free(memory.data());
    sf_free(own);
    _exit(is_made ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(memory[999], 5);
}

/// Workers of a team take it as any other memory.
TEST(Memory, OfATeam) {
  constexpr std::size_t columns = 5000;
  const auto rows = hostile(3 * columns, 4);
  std::vector<double> due(rows.begin(), rows.begin() + columns);
  for (std::size_t c = 0; c < columns; ++c)
    due[c] =
        sf::sum(std::vector{rows[c], rows[columns + c], rows[2 * columns + c]}, LocalOptions{.method = sf::tree()});
  on_team(3, [&](const Team::Member& member) {
    auto mine = sf::allocate<double>(columns);
    for (int run = 0; run < 3; ++run) {
      std::copy_n(rows.begin() + member.worker() * std::ptrdiff_t{columns}, columns, mine.begin());
      sf::allreduce(mine, sf::plus, member);
      EXPECT_TRUE(std::ranges::equal(
          mine, due, {}, [](double x) { return bits(x); }, [](double x) { return bits(x); }));
    }
  });
}

bool maps_a_file() {
  std::ifstream maps("/proc/self/maps");
  return std::string(std::istreambuf_iterator<char>(maps), {}).find("memfd:steadfold") != std::string::npos;
}

/// Where no file can be had it is ordinary memory.
TEST(Memory, WithoutSharedMemory) {
  in_a_process([] {
    rlimit before{};
    getrlimit(RLIMIT_NOFILE, &before);
    const rlimit none = {.rlim_cur = 0, .rlim_max = before.rlim_max};
    setrlimit(RLIMIT_NOFILE, &none);
    auto some = sf::allocate<double>(1000);
    setrlimit(RLIMIT_NOFILE, &before);  // sanitizers open files
    EXPECT_FALSE(maps_a_file()) << "the control";
    EXPECT_TRUE(std::ranges::all_of(some, [](double each) { return each == 0; }));
    std::ranges::fill(some, 1.0);
    EXPECT_EQ(sf::sum(some), 1000);
  });
  const auto shared = sf::allocate<double>(1);
  EXPECT_TRUE(maps_a_file());
}

}  // namespace
}  // namespace steadfold::test::memory_test
