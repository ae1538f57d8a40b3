// Operators told apart in a program without run-time type information (-fno-rtti).
#include <gtest/gtest.h>
#include <mpi.h>

#include <string>
#include <vector>

#include "mpi/misuse/misuse.hpp"
#include "mpi/run_ranks.hpp"

#if defined(__cpp_rtti)
#error "this program is compiled with -fno-rtti"
#endif

namespace steadfold::tests {
namespace {

struct Product {
  double operator()(double a, double b) const { return a * b; }
};
struct Greatest {
  double operator()(double a, double b) const { return a < b ? b : a; }
};

class NoRttiTest : public MisuseTest {
 protected:
  template <class One, class Another>
  void expect_differing(const One& one, const Another& another, const std::string& what) {
    for (const int odd : astray()) {
      expect_error(SF_MISMATCH, {"operators with different names or types"}, what,
                   [&] { is_astray(odd) ? reduce(x, one, world.comm) : reduce(x, another, world.comm); });
      expect_error(SF_MISMATCH, {"operators with different names or types"}, what + " at bind",
                   [&] { is_astray(odd) ? Plan<double>(one, 5, world.comm) : Plan<double>(another, 5, world.comm); });
    }
  }
};

TEST_F(NoRttiTest, ClosuresOfOneFunction) {
  const auto product = [](double a, double b) { return a * b; };
  const auto greatest = [](double a, double b) { return a < b ? b : a; };
  expect_differing(product, greatest, "closures of one signature");
  const auto of_any = []<class T>(const T& a, const T& b) { return a + b; };
  const auto of_others = []<class T>(const T& a, const T& b) { return a - b; };
  expect_differing(of_any, of_others, "closures of templates");
}

TEST_F(NoRttiTest, NamedTypes) {
  expect_differing(Product(), Greatest(), "types with names");
  expect_differing(named("one", Product()), named("another", Product()), "one type with two names");
}

/// Each process finds the program in another place of its memory.
TEST_F(NoRttiTest, TheSameOperatorIsTheSame) {
  std::vector<double> all;
  for (int r = 0; r < world.size; ++r) all.push_back(1.0 + r);
  const std::vector<double> mine = {all[world.index()]};
  EXPECT_TRUE(is(reduce(mine, Product(), world.comm), tree_of(all, multiply)));
  EXPECT_TRUE(is(reduce(
                     mine, [](double a, double b) { return a * b; }, world.comm),
                 tree_of(all, multiply)));
  EXPECT_TRUE(is(Plan<double>(Greatest(), 1, world.comm).run(mine), 1.0 * world.size));
}

}  // namespace
}  // namespace steadfold::tests

int main(int argc, char** argv) { return steadfold::tests::run_program(argc, argv); }
