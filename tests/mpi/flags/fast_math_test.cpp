// A program compiled and linked with fast-math, whose thread flushes subnormals from its start: the promised bits come
// out all the same, under every rounding mode and with traps on, and its own environment comes back. Nothing is
// computed here: what is expected was worked out by hand, as bits.
#include <gtest/gtest.h>
#include <mpi.h>
#include <xmmintrin.h>

#include <cfenv>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "mpi/ranks.hpp"
#include "mpi/run_ranks.hpp"
#include "steadfold/bundle.hpp"

namespace steadfold::tests {
namespace {

double from_bits(std::uint64_t bits) {
  double value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}
std::uint64_t bits_of(double value) {
  std::uint64_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

constexpr std::uint64_t one = 0x3FF0000000000000;
constexpr std::uint64_t half_ulp_of_one = 0x3CA0000000000000;  // 2^-53
constexpr std::uint64_t smallest_normal = 0x0010000000000000;  // 2^-1022
constexpr std::uint64_t minus_largest_subnormal = 0x800FFFFFFFFFFFFF;
constexpr std::uint64_t smallest = 1;  // 2^-1074

constexpr unsigned flush_to_zero = 0x8000;
constexpr unsigned denormals_are_zero = 0x0040;
unsigned control() { return _mm_getcsr() & ~0x3Fu; }

class FastMathTest : public testing::Test {
 protected:
  Ranks world;

  /// Elements that the ranks bring: `first` on rank 0, `others` on each of the other ones.
  std::vector<double> mine(std::vector<std::uint64_t> first, std::vector<std::uint64_t> others) const {
    std::vector<double> values;
    for (const std::uint64_t bits : world.rank == 0 ? first : others) values.push_back(from_bits(bits));
    return values;
  }

  /// All ways to ask for it come to these bits, and leave the environment alone.
  void expect_sum(const std::vector<double>& x, const Method& method, std::uint64_t expected) const {
    const unsigned before = control();
    EXPECT_EQ(bits_of(sum(x, world.comm, {.method = method})), expected) << name_of(method);
    EXPECT_EQ(control(), before);
    Plan<double> plan(plus, x.size(), world.comm, {.method = method});
    EXPECT_EQ(bits_of(plan.run(x)), expected) << name_of(method) << ", plan";
    Bundle bundle;
    const auto member = bundle.sum(x, {.method = method});
    bundle.bind(world.comm).run();
    EXPECT_EQ(bits_of(member.value()), expected) << name_of(method) << ", bundle";
    EXPECT_EQ(control(), before);
  }

  void expect_promised_bits() const {
    // 2^-1022 less the largest subnormal is the smallest one.
    expect_sum(mine({smallest_normal, minus_largest_subnormal}, {}), tree(), smallest);
    expect_sum(mine({smallest_normal, minus_largest_subnormal}, {}), exact(), smallest);
    // On rank 0 (1 + 2^-53) + (2^-53 + 2^-53) = 1 + 2^-52: the first is a tie, to even.
    expect_sum(mine({one, half_ulp_of_one, half_ulp_of_one, half_ulp_of_one}, {}), tree(), one + 1);
    // 1 + 3 2^-53 is a tie between 1 + 2^-52 and 1 + 2^-51, to even.
    expect_sum(mine({one, half_ulp_of_one, half_ulp_of_one, half_ulp_of_one}, {}), exact(), one + 2);
    // One subnormal per rank.
    const auto p = static_cast<std::uint64_t>(world.size);
    expect_sum(mine({smallest}, {smallest}), tree(), p);
    expect_sum(mine({smallest}, {smallest}), exact(), p);
    EXPECT_EQ(bits_of(sum(std::vector<double>{from_bits(smallest)})), smallest) << "in one process";
  }
};

TEST_F(FastMathTest, FlushesSubnormalsByItself) {  // the control: else nothing is shown below
  EXPECT_NE(control() & (flush_to_zero | denormals_are_zero), 0u);
  volatile double y = from_bits(smallest_normal);
  volatile double z = y * 0.5;
  EXPECT_EQ(bits_of(z), 0u);
}

TEST_F(FastMathTest, GetsThePromisedBits) { expect_promised_bits(); }

TEST_F(FastMathTest, GetsThePromisedBitsUnderEveryRoundingMode) {
  for (const int mode : {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO, FE_TONEAREST}) {
    std::fesetround(mode);
    expect_promised_bits();
    EXPECT_EQ(std::fegetround(), mode);
  }
}

#if defined(__GLIBC__)
TEST_F(FastMathTest, GetsThePromisedBitsWithTrapsOn) {
  std::feclearexcept(FE_ALL_EXCEPT);
  const int before = feenableexcept(FE_INVALID | FE_OVERFLOW | FE_DIVBYZERO);
  expect_promised_bits();
  const double infinity = from_bits(0x7FF0000000000000);
  const double largest = from_bits(0x7FEFFFFFFFFFFFFF);
  EXPECT_EQ(bits_of(sum(std::vector<double>{infinity, -infinity}, world.comm, {.method = tree()})),
            0x7FF8000000000000u);
  EXPECT_EQ(bits_of(sum(std::vector<double>{largest, largest}, world.comm, {.method = tree()})), 0x7FF0000000000000u);
  EXPECT_EQ(fegetexcept(), FE_INVALID | FE_OVERFLOW | FE_DIVBYZERO);
  std::feclearexcept(FE_ALL_EXCEPT);
  fedisableexcept(FE_ALL_EXCEPT);
  feenableexcept(before);
}
#endif

TEST_F(FastMathTest, RunsUserOperatorsInItsOwnEnvironment) {
  const unsigned before = control();
  int foreign = 0;
  int calls = 0;
  const auto op = [&](const double* left, const double* /*right*/, double* result, std::size_t count) noexcept {
    ++calls;
    if (control() != before) ++foreign;
    std::memmove(result, left, count * sizeof *left);
    _mm_setcsr(_mm_getcsr() ^ (flush_to_zero | 0x6000));  // an operator that leaves things behind
  };
  const std::vector<double> x(100, from_bits(one));
  EXPECT_EQ(bits_of(reduce(x, op, world.comm)), one);
  Plan<double> plan(op, x.size(), world.comm);
  EXPECT_EQ(bits_of(plan.run(x)), one);
  EXPECT_GE(calls, 10);
  EXPECT_EQ(foreign, 0) << "of " << calls << " calls";
  EXPECT_EQ(control(), before);
  // A member after it in a bundle is not hurt by what the operator left.
  Bundle bundle;
  const std::vector<double> tiny = mine({smallest_normal, minus_largest_subnormal}, {});
  bundle.reduce(x, op);
  const auto member = bundle.sum(tiny, {.method = tree()});
  bundle.bind(world.comm).run();
  EXPECT_EQ(bits_of(member.value()), smallest);
}

}  // namespace
}  // namespace steadfold::tests

int main(int argc, char** argv) { return steadfold::tests::run_program(argc, argv); }
