// Values and counts that broke other libraries, on few ranks, by every schedule and method; expected bits are written
// out.
#include <gtest/gtest.h>

#include <bit>
#include <limits>
#include <optional>

#include "order/recursion.hpp"
#include "support/simulated_job.hpp"

namespace steadfold::test::hostile_test {
namespace {

using arithmetic::Operation;

constexpr std::uint64_t plus_zero = 0;
constexpr std::uint64_t minus_zero = 0x8000000000000000;
constexpr std::uint64_t plus_infinity = 0x7FF0000000000000;
constexpr std::uint64_t minus_infinity = 0xFFF0000000000000;
constexpr std::uint64_t quiet_nan = 0x7FF8000000000000;
constexpr std::uint64_t signalling_nan = 0x7FF0000000000001;
constexpr std::uint64_t payload_nan = 0xFFF8000000C0FFEE;
constexpr std::uint64_t largest = 0x7FEFFFFFFFFFFFFF;
constexpr std::uint64_t smallest = 1;

std::uint64_t bits(double value) { return std::bit_cast<std::uint64_t>(value); }

/// Values as bits, and the bits of their sum by tree and exactly, of their least and their largest.
struct Hostile {
  const char* name;
  std::vector<std::uint64_t> values;
  std::uint64_t tree;
  std::uint64_t exact;
  std::uint64_t least;
  std::uint64_t most;
  std::optional<std::uint64_t> binned = {};  // where it is not the exact sum
};

std::vector<Hostile> hostiles() {
  const std::vector<std::uint64_t> subnormals(1000, smallest);
  const std::uint64_t one = bits(1.0);
  const std::uint64_t two = bits(2.0);
  return {
      {"one value", {one}, one, one, one, one},
      {"two values", {one, two}, bits(3.0), bits(3.0), one, two},
      {"three values", {bits(0x1p53), one, one}, bits(0x1p53), bits(0x1p53 + 2), one, bits(0x1p53)},
      {"seven ones", std::vector<std::uint64_t>(7, one), bits(7.0), bits(7.0), one, one},
      {"one minus zero", {minus_zero}, minus_zero, minus_zero, minus_zero, minus_zero},
      {"minus zeros", std::vector<std::uint64_t>(13, minus_zero), minus_zero, minus_zero, minus_zero, minus_zero},
      {"a plus zero among minus zeros",
       {minus_zero, minus_zero, plus_zero, minus_zero, minus_zero},
       plus_zero,
       plus_zero,
       minus_zero,
       plus_zero},
      {"one and its opposite", {one, bits(-1.0)}, plus_zero, plus_zero, bits(-1.0), one},
      {"infinity", {plus_infinity}, plus_infinity, plus_infinity, plus_infinity, plus_infinity},
      {"infinity among values", {one, minus_infinity, two}, minus_infinity, minus_infinity, minus_infinity, two},
      {"both infinities", {plus_infinity, minus_infinity}, quiet_nan, quiet_nan, minus_infinity, plus_infinity},
      {"both infinities, apart",
       {plus_infinity, one, one, one, one, minus_infinity},
       quiet_nan,
       quiet_nan,
       minus_infinity,
       plus_infinity},
      {"one NaN", {payload_nan}, quiet_nan, quiet_nan, quiet_nan, quiet_nan},
      {"a signalling NaN", {signalling_nan}, quiet_nan, quiet_nan, quiet_nan, quiet_nan},
      {"NaNs of any kind",
       {payload_nan, one, signalling_nan, plus_infinity, quiet_nan | minus_zero, two},
       quiet_nan,
       quiet_nan,
       quiet_nan,
       quiet_nan},
      {"largest twice, less one",
       {largest, largest, largest | minus_zero},
       plus_infinity,
       largest,
       largest | minus_zero,
       largest},
      {"largest twice", {largest, largest}, plus_infinity, plus_infinity, largest, largest},
      {"smallest a thousand times", subnormals, 1000, 1000, smallest, smallest},
      {"a unit lost between giants",
       {bits(1e60), one, bits(-1e60)},
       plus_zero,
       one,
       bits(-1e60),
       bits(1e60),
       plus_zero},
  };
}

/// All on the last rank, one per rank with empty ranks behind, or with empty ranks before.
std::vector<Deal> deals_of(Count n, Rank p) {
  const auto ranks = static_cast<Count>(p);
  std::vector<Count> last(ranks);
  std::vector<Count> front(ranks);
  std::vector<Count> back(ranks);
  last.back() = n;
  for (Count i = 0; i < n; ++i) {
    ++front[std::min(i, ranks - 1)];
    ++back[ranks - 1 - std::min(i, ranks - 1)];
  }
  return {contiguous_deal(last), contiguous_deal(front), contiguous_deal(back)};
}

void expect_bits(const Hostile& hostile, Operation operation, Method method, std::uint64_t expected,
                 arithmetic::Sweep sweep = arithmetic::Sweep::single_sweep) {
  const Memory bytes = bytes_of(std::vector<std::uint64_t>{expected});
  for (const Rank p : {1, 2, 3, 4, 7}) {
    for (const Deal& deal : deals_of(hostile.values.size(), p)) {
      std::vector<Memory> memory;
      for (const auto& intervals : deal) memory.push_back(memory_of(hostile.values, 1, intervals));
      for (const schedule::Algorithm& algorithm : schedule::registry()) {
        for (const Rank root : {all_ranks, p - 1}) {
          const std::string name(algorithm.name);
          const Call call{.operation = operation,
                          .method = method,
                          .root = root,
                          .collective = call::reduction_to(root),
                          .schedule = name,
                          .element_count = hostile.values.size(),
                          .layout = LayoutKind::rank_order,
                          .parameters = {.sweep = sweep}};
          const std::vector<Call> calls = calls_for(call, deal);
          const Concluded agreed = concluded(calls);
          if (agreed.status == Status::unsupported) continue;
          SCOPED_TRACE(testing::Message() << hostile.name << ": " << arithmetic::name_of(operation) << " by "
                                          << call::name_of(method) << ", " << name << ", p " << p << ", root " << root);
          SimulatedRanks ranks(p, 7);
          SimulatedJob job(ranks, agreed.agreement.value(), calls);
          expect_result(run(ranks, job, memory, 8), root, bytes);
          if (testing::Test::HasFailure()) return;
        }
      }
    }
  }
}

TEST(Hostile, SumsByTree) {
  for (const Hostile& hostile : hostiles()) expect_bits(hostile, Operation::sum, Method::tree, hostile.tree);
}
TEST(Hostile, SumsExactly) {
  for (const Hostile& hostile : hostiles()) expect_bits(hostile, Operation::sum, Method::exact, hostile.exact);
}
TEST(Hostile, SumsByBins) {
  for (const auto sweep : {arithmetic::Sweep::single_sweep, arithmetic::Sweep::double_sweep})
    for (const Hostile& hostile : hostiles())
      expect_bits(hostile, Operation::sum, Method::binned, hostile.binned.value_or(hostile.exact), sweep);
}
TEST(Hostile, Minima) {
  for (const Method method : {Method::tree, Method::plain, Method::automatic}) {
    for (const Hostile& hostile : hostiles()) expect_bits(hostile, Operation::min, method, hostile.least);
  }
}
TEST(Hostile, Maxima) {
  for (const Method method : {Method::tree, Method::plain, Method::automatic}) {
    for (const Hostile& hostile : hostiles()) expect_bits(hostile, Operation::max, method, hostile.most);
  }
}

TEST(Hostile, Nothing) {
  const Hostile nothing{"nothing", {}, plus_zero, plus_zero, 0, 0};
  for (const Method method : {Method::tree, Method::exact, Method::binned, Method::plain})
    expect_bits(nothing, Operation::sum, method, plus_zero);
  for (const Method method : {Method::tree, Method::plain}) expect_bits(nothing, Operation::product, method, bits(1.0));
}

/// The table above, column `tree`, once more by the recursion.
TEST(Hostile, TheTableIsRight) {
  for (const Hostile& hostile : hostiles()) {
    std::vector<double> values;
    for (const std::uint64_t value : hostile.values) values.push_back(std::bit_cast<double>(value));
    const double sum = reference::tree(values, [](double a, double b) { return a + b; });
    EXPECT_EQ(sum != sum ? quiet_nan : bits(sum), hostile.tree) << hostile.name;
  }
}

}  // namespace
}  // namespace steadfold::test::hostile_test
