// Inside a PromisedEnvironment additions round to nearest even, keep subnormals and never trap; afterwards everything
// is as the caller had it, but for flags that were raised.
#include "arithmetic/environment.hpp"

#include <gtest/gtest.h>

#include <cfenv>
#include <cmath>
#include <limits>
#include <optional>
#include <thread>

#include "arithmetic/records.hpp"

namespace steadfold::test::environment_test {
namespace {

using arithmetic::PromisedEnvironment;

double sum(double a, double b) {
  volatile double x = a;
  volatile double y = b;
  return x + y;
}

double product(double a, double b) {
  volatile double x = a;
  volatile double y = b;
  return x * y;
}

double quotient(double a, double b) {
  volatile double x = a;
  volatile double y = b;
  volatile double z = x / y;  // done even where nobody looks at the result
  return z;
}

#if defined(__SSE2__)
unsigned control() { return _mm_getcsr() & ~0x3Fu; }
#else
unsigned control() { return 0; }
#endif

/// The mode in which additions round; std::fegetround would tell x87's on some machines.
int rounding() {
  const bool up = sum(1, 0x1p-60) > 1;
  const bool down = sum(-1, -0x1p-60) < -1;
  const bool truncates = sum(1 + 0x1p-52, -0x1p-60) == 1;
  return up ? FE_UPWARD : down ? FE_DOWNWARD : truncates ? FE_TOWARDZERO : FE_TONEAREST;
}

/// What every environment is compared with and left in.
class Environment : public testing::Test {
 protected:
  void SetUp() override { std::fegetenv(&before_); }
  void TearDown() override { std::fesetenv(&before_); }

  static void expect_the_promised_one() {
    EXPECT_EQ(bits_of(sum(1, 0x1p-53)), bits_of(1.0));                    // a tie, to even
    EXPECT_EQ(bits_of(sum(1 + 0x1p-52, 0x1p-53)), bits_of(1 + 0x1p-51));  // a tie, to even
    EXPECT_EQ(bits_of(sum(-1, -0x1.8p-53)), bits_of(-1 - 0x1p-52));
    EXPECT_EQ(bits_of(sum(0x1p-1022, -0x1p-1074)), "000FFFFFFFFFFFFF");  // a subnormal result
    EXPECT_EQ(bits_of(sum(0x1p-1074, 0x1p-1074)), "0000000000000002");   // subnormal operands
    EXPECT_EQ(bits_of(product(0x1p-1074, 0x1p1000)), bits_of(0x1p-74));
    EXPECT_EQ(bits_of(quotient(1, 0)), "7FF0000000000000");  // would trap
    EXPECT_EQ(bits_of(product(0x1p1000, 0x1p1000)), "7FF0000000000000");
  }

  std::fenv_t before_;
};

TEST_F(Environment, RoundsToNearestEvenAndPutsTheModeBack) {
  for (const int mode : {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO}) {
    ASSERT_EQ(std::fesetround(mode), 0);
    const unsigned mine = control();
    {
      const PromisedEnvironment promised;
      expect_the_promised_one();
    }
    EXPECT_EQ(rounding(), mode);
    EXPECT_EQ(std::fegetround(), mode);
    EXPECT_EQ(control(), mine);
  }
}

#if defined(__SSE2__)
TEST_F(Environment, KeepsSubnormalsAndPutsFlushingBack) {
  constexpr unsigned flush_to_zero = 0x8000;
  constexpr unsigned denormals_are_zero = 0x0040;
  for (const unsigned mode : {flush_to_zero, denormals_are_zero, flush_to_zero | denormals_are_zero}) {
    _mm_setcsr(_mm_getcsr() | mode);
    const unsigned mine = control();
    EXPECT_EQ(bits_of(sum(0x1p-1074, mode == flush_to_zero ? 0x1p-1074 : 0.0)), bits_of(0.0)) << "the control";
    {
      const PromisedEnvironment promised;
      expect_the_promised_one();
    }
    EXPECT_EQ(control(), mine);
    EXPECT_NE(_mm_getcsr() & mode, 0u);
    std::fesetenv(&before_);
  }
}
#endif

#if defined(__SSE2__) && defined(__GNUC__)
long double long_sum(long double a, long double b) {
  volatile long double x = a;
  volatile long double y = b;
  return x + y;
}

unsigned short x87_control() {
  unsigned short word = 0;
  asm volatile("fnstcw %0" : "=m"(word));
  return word;
}

/// Long doubles round to nearest with all of their 64 bits, whatever the x87's own control word said.
TEST_F(Environment, RoundsLongDoublesToNearestAndPutsTheX87Back) {
  static_assert(std::numeric_limits<long double>::digits == 64);
  for (const unsigned rounding : {0x000u, 0x400u, 0x800u, 0xC00u}) {
    for (const unsigned precision : {0x000u, 0x200u, 0x300u}) {  // 24, 53 and 64 bits
      const auto mine = static_cast<unsigned short>(0x7F | rounding | precision);
      asm volatile("fldcw %0" : : "m"(mine));
      bool in_order = true;
      {
        const PromisedEnvironment promised;
        in_order = long_sum(1, 0x1p-64L) == 1 && long_sum(1, 0x1.8p-64L) == 1 + 0x1p-63L &&  // a tie, and above one
                   long_sum(-1, -0x1p-64L) == -1 && long_sum(-1, -0x1.8p-64L) == -1 - 0x1p-63L &&
                   long_sum(1 + 0x1p-63L, 0x1p-64L) == 1 + 0x1p-62L;
        const arithmetic::CallersEnvironment callers;
        EXPECT_EQ(x87_control(), mine);
      }
      EXPECT_EQ(x87_control(), mine);
      std::fesetenv(&before_);
      EXPECT_TRUE(in_order) << std::hex << mine;
    }
  }
}
#endif

#if defined(__SSE2__) && defined(__GNUC__) && defined(__GLIBC__)
/// The x87 traps in its next instruction if a raised flag is unmasked; the vector unit does not.
TEST_F(Environment, LeavesNoTrapOfLongDoublesToTheCaller) {
  std::feclearexcept(FE_ALL_EXCEPT);
  ASSERT_NE(feenableexcept(FE_DIVBYZERO | FE_INVALID | FE_OVERFLOW), -1);
  const unsigned short mine = x87_control();
  {
    const PromisedEnvironment promised;
    const long double largest = std::numeric_limits<long double>::max();
    EXPECT_TRUE(std::isinf(long_sum(largest, largest)));
    const arithmetic::CallersEnvironment callers;
    EXPECT_EQ(long_sum(1, 2), 3) << "an operator of the caller";
  }
  EXPECT_EQ(long_sum(1, 2), 3);
  EXPECT_EQ(x87_control(), mine);
  EXPECT_NE(std::fetestexcept(FE_OVERFLOW), 0) << "a flag was lost";
}
#endif

#if defined(__GLIBC__)
TEST_F(Environment, MasksTrapsAndPutsThemBack) {
  std::feclearexcept(FE_ALL_EXCEPT);
  const int traps = FE_DIVBYZERO | FE_INVALID | FE_OVERFLOW;
  ASSERT_NE(feenableexcept(traps), -1);
  if (fegetexcept() != traps) return;  // a machine that cannot trap
  {
    const PromisedEnvironment promised;
    expect_the_promised_one();
    EXPECT_EQ(bits_of(sum(quotient(1, 0), 1)), "7FF0000000000000");
  }
  EXPECT_EQ(fegetexcept(), traps);
  EXPECT_NE(std::fetestexcept(FE_DIVBYZERO), 0) << "a flag was lost";
}
#endif

TEST_F(Environment, OfTheCallerIsInForceInsideForUserOperators) {
  for (const int mode : {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO}) {
    ASSERT_EQ(std::fesetround(mode), 0);
    {
      const PromisedEnvironment promised;
      {
        const arithmetic::CallersEnvironment callers;
        EXPECT_EQ(rounding(), mode);
        std::fesetround(FE_UPWARD);  // what an operator may do
      }
      expect_the_promised_one();
      {
        const arithmetic::CallersEnvironment again;
        EXPECT_EQ(rounding(), mode) << "the caller's, not what an operator left";
        const PromisedEnvironment inner;  // an operator that calls the library
        expect_the_promised_one();
        const arithmetic::CallersEnvironment innermost;
        EXPECT_EQ(rounding(), mode);
      }
      expect_the_promised_one();
    }
    EXPECT_EQ(rounding(), mode);
  }
}

TEST_F(Environment, KeepsTheFlagsThatWereRaisedBeforeAndInside) {
  for (const int mode : {FE_TONEAREST, FE_UPWARD}) {
    std::fesetround(mode);
    std::feclearexcept(FE_ALL_EXCEPT);
    std::feraiseexcept(FE_INVALID);
    {
      const PromisedEnvironment promised;
      quotient(1, 0);
    }
    EXPECT_NE(std::fetestexcept(FE_INVALID), 0) << mode;
    EXPECT_NE(std::fetestexcept(FE_DIVBYZERO), 0) << mode;
    EXPECT_EQ(std::fetestexcept(FE_OVERFLOW), 0) << mode;
  }
}

TEST_F(Environment, Nests) {
  std::fesetround(FE_UPWARD);
  {
    const PromisedEnvironment outer;
    std::fesetround(FE_DOWNWARD);  // as a user operator might
    {
      const PromisedEnvironment inner;
      expect_the_promised_one();
    }
    EXPECT_EQ(rounding(), FE_DOWNWARD);
  }
  EXPECT_EQ(rounding(), FE_UPWARD);
}

/// A caller with the default environment gets it back too, whatever was done inside.
TEST_F(Environment, PutsTheDefaultBack) {
  std::fesetenv(FE_DFL_ENV);
  {
    const PromisedEnvironment promised;
    std::fesetround(FE_UPWARD);  // as a user operator might
  }
  EXPECT_EQ(rounding(), FE_TONEAREST);
}

TEST_F(Environment, IsTheThreadsOwn) {
  std::fesetround(FE_UPWARD);
  const PromisedEnvironment promised;
  std::thread([] {
    std::fesetround(FE_DOWNWARD);
    {
      const PromisedEnvironment own;
      expect_the_promised_one();
    }
    EXPECT_EQ(rounding(), FE_DOWNWARD);
  }).join();
  expect_the_promised_one();
}

}  // namespace
}  // namespace steadfold::test::environment_test
