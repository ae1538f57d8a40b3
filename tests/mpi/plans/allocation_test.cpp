// After a few calls of a shape, further ones allocate nothing: counted in a malloc that stands before the system's, and
// told from what the MPI library allocates by the first caller outside the C and C++ libraries.
#include <dlfcn.h>
#include <execinfo.h>
#include <gtest/gtest.h>
#include <mpi.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "mpi/bits.hpp"
#include "mpi/operators.hpp"
#include "mpi/ranks.hpp"
#include "mpi/reference.hpp"
#include "mpi/run_ranks.hpp"
#include "steadfold/bundle.hpp"
#include "steadfold/started.hpp"
#include "steadfold/team.hpp"
#include "support/on_team.hpp"

namespace {

/// This thread's allocations while `counting`.
struct Count {
  std::size_t ours = 0;    // of Steadfold's libraries and of what is inlined from its headers here
  std::size_t others = 0;  // of the MPI library and those below it
  std::string_view first;  // the file that asked for the first of ours
};
thread_local Count counted;
thread_local bool counting = false;

bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

/// The file of the first caller that is no language's library, from the third frame on: the hook's own come first.
[[gnu::noinline]] std::string_view caller_file() {
  std::array<void*, 24> frames;
  const int depth = backtrace(frames.data(), static_cast<int>(frames.size()));
  for (int i = 2; i < depth; ++i) {
    Dl_info info{};
    if (dladdr(frames[static_cast<std::size_t>(i)], &info) == 0 || info.dli_fname == nullptr) continue;
    const std::string_view file = info.dli_fname;
    if (!contains(file, "libstdc++") && !contains(file, "libc.so") && !contains(file, "ld-linux")) return file;
  }
  return "";
}

[[maybe_unused, gnu::always_inline]] inline void note_allocation() {
  if (!counting) return;
  counting = false;  // while looking around
  const std::string_view file = caller_file();
  const bool ours = contains(file, "libsteadfold") || contains(file, "allocation_test");
  if (ours && counted.first.empty()) counted.first = file;
  (ours ? counted.ours : counted.others) += 1;
  counting = true;
}

}  // namespace

#ifndef STEADFOLD_SANITIZED  // which has malloc
extern "C" {
void* __libc_malloc(std::size_t size) noexcept;
void* __libc_calloc(std::size_t count, std::size_t size) noexcept;
void* __libc_realloc(void* memory, std::size_t size) noexcept;
void* __libc_memalign(std::size_t alignment, std::size_t size) noexcept;

void* malloc(std::size_t size) noexcept {
  note_allocation();
  return __libc_malloc(size);
}
void* calloc(std::size_t count, std::size_t size) noexcept {
  note_allocation();
  return __libc_calloc(count, size);
}
void* realloc(void* memory, std::size_t size) noexcept {
  note_allocation();
  return __libc_realloc(memory, size);
}
void* memalign(std::size_t alignment, std::size_t size) noexcept {
  note_allocation();
  return __libc_memalign(alignment, size);
}
void* aligned_alloc(std::size_t alignment, std::size_t size) noexcept {
  note_allocation();
  return __libc_memalign(alignment, size);
}
int posix_memalign(void** memory, std::size_t alignment, std::size_t size) noexcept {
  note_allocation();
  *memory = __libc_memalign(alignment, size);
  return *memory == nullptr ? 12 : 0;  // ENOMEM
}
}
#endif

namespace steadfold::tests {
namespace {

class AllocationTest : public testing::Test {
 protected:
  void SetUp() override {
    std::array<void*, 4> frames;
    backtrace(frames.data(), 4);  // loads what it needs now, not while counting
#ifdef STEADFOLD_SANITIZED
    GTEST_SKIP() << "allocations are not counted (a sanitizer has malloc)";
#endif
  }

  /// Calls often, then counts.
  template <class Call>
  Count count(const Call& call) const {
    for (std::size_t i = 0; i < warm_up; ++i) call();
    counted = {};
    for (std::size_t i = 0; i < calls; ++i) {
      counting = true;
      call();
      counting = false;
    }
    return counted;
  }

  template <class Call>
  void expect_none(const std::string& what, const Call& call) const {
    const Count found = count(call);
    EXPECT_EQ(found.ours, 0u) << what << ", first by " << found.first;
    if (found.others > 0 && world.rank == 0)
      std::printf("%s: %zu allocations within the MPI library\n", what.c_str(), found.others);
  }

  Ranks world;
  const std::size_t warm_up = thorough(world) ? 40 : 15;
  const std::size_t calls = thorough(world) ? 500 : 25;
  Random random{seed_of("allocation_test", 8)};
};

TEST_F(AllocationTest, TheCounterCounts) {
  std::vector<double> kept;
  EXPECT_EQ(count([&] { std::vector<double>(7).swap(kept); }).ours, calls);
  EXPECT_EQ(count([&] { kept[0] += 1; }).ours, 0u);
}

TEST_F(AllocationTest, ExactSums) {
  for (const std::size_t rows : {std::size_t{0}, std::size_t{1}, std::size_t{100}, std::size_t{5000}}) {
    const std::vector<double> x = wide_numbers<double>(rows, random);
    expect_none("sum of " + std::to_string(rows), [&] { sum(x, world.comm); });
  }
  const std::vector<double> x = elements<double>(10, random);
  const Options to_root{.root = world.size - 1};
  expect_none("sum to a root", [&] { sum(x, world.comm, to_root); });
  expect_none("dot", [&] { dot(x, x, world.comm); });
  expect_none("norm2", [&] { norm2(x, world.comm); });
  std::size_t rows = 0;
  expect_none("sum of other numbers of elements", [&] { sum(std::span(x).first(rows++ % 11), world.comm); });
}

TEST_F(AllocationTest, TreeSums) {
  for (const std::size_t n : {std::size_t{1}, std::size_t{100}, std::size_t{20000}}) {
    for (const auto& layout : sorts_of_layouts(n, world.count(), random)) {
      const std::vector<double> mine = pick(elements<double>(n, random), layout.ownership[world.index()]);
      const Options options{.method = tree(), .layout = layout_on(world, layout.ownership)};
      expect_none("tree of " + std::to_string(n) + ", " + layout.name, [&] { sum(mine, world.comm, options); });
    }
  }
  const std::vector<double> x = elements<double>(50, random);
  const Options contiguous{.method = tree(), .layout = Layout::contiguous(x.size(), world.comm)};
  expect_none("tree, contiguous", [&] { sum(x, world.comm, contiguous); });
  const Options anywhere{.method = tree()};
  expect_none("tree without a layout", [&] { sum(x, world.comm, anywhere); });
}

TEST_F(AllocationTest, EverySchedule) {
  const std::vector<double> x = elements<double>(50, random);
  for (const Method method : {tree(), exact(), binned(), binned({.bins = 2, .sweep = SF_DOUBLE_SWEEP})}) {
    for (const std::string& schedule : schedules_of(method, false)) {
      const Options options{.method = method, .schedule = schedule};
      expect_none("schedule '" + schedule + "'", [&] { sum(x, world.comm, options); });
    }
  }
}

TEST_F(AllocationTest, Barriers) {
  expect_none("barrier", [&] { barrier(world.comm); });
}

TEST_F(AllocationTest, Vectors) {
  for (const std::size_t columns : {std::size_t{1}, std::size_t{8}, std::size_t{5000}}) {
    std::vector<double> buffer(columns, 1.0);
    const std::span<double> span(buffer);
    expect_none("allreduce of " + std::to_string(columns), [&] { allreduce(span, plus, world.comm); });
    expect_none("reduce_to of " + std::to_string(columns), [&] { reduce_to(0, span, minimum, world.comm); });
    const Options exactly{.method = exact()};
    expect_none("exact allreduce", [&] { allreduce(span, plus, world.comm, exactly); });
  }
}

TEST_F(AllocationTest, OperatorsOfOnesOwn) {
  const std::vector<Hash> hashes = elements<Hash>(30, random);
  const std::vector<Matrix> matrices = elements<Matrix>(30, random);
  expect_none("noexcept operator", [&] { reduce(hashes, mix_hashes, world.comm); });
  expect_none("operator that may throw", [&] { reduce(matrices, matrix_product, world.comm); });
  expect_none("operator on arrays", [&] { reduce(hashes, MixArrays(), world.comm); });
  const Options listed{.layout = Layout::contiguous(hashes.size(), world.comm)};
  expect_none("with a layout", [&] { reduce(hashes, MixArrays(), world.comm, listed); });
  const std::vector<std::int32_t> numbers = elements<std::int32_t>(30, random);
  expect_none("maximum", [&] { reduce(numbers, maximum, world.comm); });
}

TEST_F(AllocationTest, CallsOfManyShapesInTurn) {
  const std::vector<double> x = elements<double>(20, random);
  const std::vector<float> y = elements<float>(20, random);
  std::vector<double> buffer(3, 1.0);
  std::vector<Options> options;
  for (const std::string& schedule : schedules_of(tree(), false))
    options.push_back({.method = tree(), .schedule = schedule});
  expect_none("many shapes", [&] {
    sum(x, world.comm);
    sum(y, world.comm);
    for (const Options& each : options) sum(x, world.comm, each);
    reduce(x, subtract, world.comm);
    allreduce(std::span{buffer}, maximum, world.comm);
    norm2(y, world.comm);
  });
}

/// Rank 0 cannot tell the two from its own rows.
TEST_F(AllocationTest, LayoutsInTurnThatLookTheSameOnOneRank) {
  const std::vector<double> x = elements<double>(20, random);
  const Options options{.method = tree()};
  std::size_t turn = 0;
  expect_none("two sizes in turn", [&] {
    turn += 1;
    const std::size_t rows = world.rank == 0 || turn % 2 == 0 ? 10 : 12;
    sum(std::span(x).first(rows), world.comm, options);
  });
}

/// Threads are made by the first call.
TEST_F(AllocationTest, Threads) {
  const std::vector<double> x = elements<double>(3000, random);
  for (const Method method : {tree(), exact()}) {
    const Options options{.method = method, .threads = 3};
    expect_none("sum by threads", [&] { sum(x, world.comm, options); });
    Plan<double> plan(plus, x.size(), world.comm, options);
    expect_none("plan by threads", [&] { plan.run(x); });
  }
}

/// A team has the threads of all ranks. Where only one thread of a rank may call MPI, it sends for the other, too.
TEST_F(AllocationTest, Teams) {
  const Team team(world.comm, 2);
  const std::vector<double> x = elements<double>(200, random);
  test::on_members(
      team,
      [&](const Team::Member& member) {
        expect_none("a team's sum", [&] { sum(x, member); });
        expect_none("a team's sum by tree", [&] { sum(x, member, {.method = tree()}); });
        expect_none("a team's reduction to a worker", [&] { reduce(x, subtract, member, {.root = 1}); });
        std::vector<double> wide(3000, 1.0);
        for (const char* schedule : {"", "two_level", "ring"}) {
          const Options options{.method = tree(), .schedule = schedule};
          const std::string name = "a team's vectors by '" + std::string(schedule) + "'";
          expect_none(name, [&] { allreduce(std::span(wide), plus, member, options); });
          auto plan = Plan<double>::of_vectors(plus, wide.size(), member, options);
          expect_none(name + ", a plan", [&] { plan.run(wide, std::span(wide)); });
        }
        expect_none("a team's barrier", [&] { barrier(member); });
      },
      test::First::here);
}

TEST_F(AllocationTest, Plans) {
  const std::vector<double> x = elements<double>(200, random);
  double result = 0;
  for (const Method method : {tree(), exact(), binned(), binned({.bins = 2, .sweep = SF_DOUBLE_SWEEP})}) {
    for (const std::string& schedule : schedules_of(method, false)) {
      Plan<double> plan(plus, x.size(), world.comm, {.method = method, .schedule = schedule});
      expect_none("plan by " + schedule, [&] { plan.run(x); });
      expect_none("plan in two phases by " + schedule, [&] {
        plan.start(x, {&result, 1});
        plan.wait();
      });
    }
  }
  for (const std::string schedule : {"", "owner", "owner:buffer=4"}) {
    Plan<double> to_root(subtract, x.size(), world.comm, {.root = 0, .schedule = schedule});
    expect_none("plan to a root by '" + schedule + "'", [&] { to_root.run(x); });
  }
  const auto may_throw = [](double a, double b) { return a - b; };
  Plan<double> careful(may_throw, x.size(), world.comm);
  expect_none("plan with an operator that may throw", [&] { careful.run(x); });
  std::vector<double> wide(20000, 1.0);
  auto vectors = Plan<double>::of_vectors(plus, wide.size(), world.comm);
  expect_none("plan of vectors", [&] { vectors.run(wide, std::span(wide)); });
  Bundle bundle;
  bundle.sum(x);
  bundle.dot(x, x);
  bundle.reduce(x, subtract);
  std::vector<double> narrow(8, 1.0);
  bundle.allreduce(narrow, plus);
  BundlePlan together = bundle.bind(world.comm);
  expect_none("bundle", [&] { together.run(); });
  expect_none("bundle in two phases", [&] {
    together.start();
    together.wait();
  });
  careful.trace(true);
  expect_none("traced plan", [&] { careful.run(x); });
}

}  // namespace
}  // namespace steadfold::tests

int main(int argc, char** argv) { return steadfold::tests::run_program(argc, argv); }
