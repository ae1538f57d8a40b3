// Sums that are kept: random programs of adding, taking away, merging and negating against MPFR; what is undone leaves
// no trace; order and splitting do not matter; comparisons; the sign of a zero; the room there is.
#include "arithmetic/exact/state.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <limits>
#include <memory>
#include <random>
#include <vector>

#include "arithmetic/exact/state_bytes.hpp"
#ifdef STEADFOLD_HAVE_MPFR
#include "arithmetic/mpfr.hpp"
#endif

namespace steadfold::test::exact_state_test {
namespace {

using namespace steadfold::arithmetic;  // NOLINT(google-build-using-namespace)

using Random = std::mt19937_64;
using State = std::unique_ptr<ExactState>;
constexpr std::uint64_t seed = 20;

template <class T>
constexpr T largest = std::numeric_limits<T>::max();
template <class T>
constexpr T smallest = std::numeric_limits<T>::denorm_min();
template <class T>
constexpr T infinity = std::numeric_limits<T>::infinity();

template <class T>
StateShape shape_of(int factors, Count columns = 1) {
  return {sizeof(T) == 8 ? Type::f64 : Type::f32, factors, columns};
}

template <class T>
const std::byte* bytes(const std::vector<T>& x) {
  return reinterpret_cast<const std::byte*>(x.data());
}

template <class T>
void change(ExactState& state, const std::vector<T>& x, Way way = Way::added) {
  state.add(bytes(x), nullptr, x.size() / state.shape().columns, way);
}
template <class T>
void change(ExactState& state, const std::vector<T>& x, const std::vector<T>& y, Way way = Way::added) {
  state.add(bytes(x), bytes(y), x.size() / state.shape().columns, way);
}

template <class T>
State sum_of(const std::vector<T>& x, int factors = 1, Count columns = 1) {
  State state = ExactState::make(shape_of<T>(factors, columns));
  change(*state, x);
  return state;
}

std::vector<std::byte> file(const ExactState& state) {
  std::vector<std::byte> out(file_bytes(state));
  write_file(state, out);
  return out;
}

template <class Result>
std::vector<Result> rounded(const ExactState& state, Operation operation = Operation::sum) {
  std::vector<Result> values(state.shape().columns);
  state.round(operation, sizeof(Result) == 8 ? Type::f64 : Type::f32, reinterpret_cast<std::byte*>(values.data()));
  return values;
}

template <class T>
auto bits(T x) {
  return std::bit_cast<std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>>(x);
}

/// Any finite number: of all exponents, neighbours in exponent, zeros of both signs, the greatest and the least.
template <class T>
T finite(Random& random) {
  using Limits = std::numeric_limits<T>;
  const T sign = random() % 2 == 0 ? T{1} : T{-1};
  const T fraction = static_cast<T>(static_cast<double>(random() >> 11) * 0x1p-53);
  switch (random() % 8) {
    case 0: return sign * T{0};
    case 1: return sign * largest<T>;
    case 2: return sign * smallest<T>;
    case 3:
      return sign *
             std::ldexp(T{1}, static_cast<int>(random() % 64) * 32 % (2 * Limits::max_exponent) - Limits::max_exponent);
    case 4: return sign * fraction;
    default:
      return sign * std::ldexp(fraction, static_cast<int>(random() % static_cast<unsigned>(2 * Limits::max_exponent)) -
                                             Limits::max_exponent);
  }
}

template <class T>
std::vector<T> finites(std::size_t count, Random& random) {
  std::vector<T> x(count);
  for (T& each : x) each = finite<T>(random);
  return x;
}

std::size_t some_rows(Random& random) { return std::vector<std::size_t>{0, 1, 2, 31, 32, 300, 3000}[random() % 7]; }

struct Case {
  bool is_double;
  int factors;
};

class Kept : public testing::TestWithParam<Case> {
 protected:
  /// Calls test(T{}) with the case's type.
  template <class Test>
  void with_type(const Test& test) {
    std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
    GetParam().is_double ? test(double{}) : test(float{});
  }
  int factors() const { return GetParam().factors; }
  Random random{seed};
};

INSTANTIATE_TEST_SUITE_P(Shapes, Kept, testing::Values(Case{true, 1}, Case{true, 2}, Case{false, 1}, Case{false, 2}),
                         [](const auto& instance) {
                           return std::string(instance.param.is_double ? "Doubles" : "Floats") +
                                  (instance.param.factors == 2 ? "Products" : "");
                         });

/// Rows as a program adds them: plain ones, products, and squares.
template <class T>
struct Rows {
  std::vector<T> x;
  std::vector<T> y;
  bool squares = false;

  Rows(std::size_t rows, int factors, Count columns, Random& random) : x(finites<T>(rows * columns, random)) {
    if (factors == 1 || random() % 3 == 0) return;
    squares = random() % 3 == 0;
    if (!squares) y = finites<T>(x.size(), random);
  }
  void change(ExactState& state, Way way) const {
    const std::byte* second = squares ? bytes(x) : y.empty() ? nullptr : bytes(y);
    state.add(bytes(x), second, x.size() / state.shape().columns, way);
  }
};

TEST_P(Kept, WhatIsUndoneLeavesNoTrace) {
  with_type([&]<class T>(T) {
    for (const Count columns : {1u, 3u}) {
      for (int round = 0; round < 60; ++round) {
        State state = ExactState::make(shape_of<T>(factors(), columns));
        Rows<T>(some_rows(random), factors(), columns, random).change(*state, Way::added);
        const auto before = file(*state);
        std::vector<std::pair<Rows<T>, Way>> changes;
        for (int i = 0; i < 5; ++i)
          changes.emplace_back(Rows<T>(some_rows(random), factors(), columns, random),
                               random() % 2 == 0 ? Way::added : Way::taken_away);
        for (const auto& [rows, way] : changes) rows.change(*state, way);
        std::ranges::shuffle(changes, random);
        for (const auto& [rows, way] : changes) rows.change(*state, way == Way::added ? Way::taken_away : Way::added);
        ASSERT_EQ(file(*state), before) << "round " << round;
      }
    }
  });
}

TEST_P(Kept, OrderAndSplittingDoNotMatter) {
  with_type([&]<class T>(T) {
    for (int round = 0; round < 40; ++round) {
      const Count columns = 1 + random() % 3;
      const std::size_t rows = some_rows(random);
      const auto x = finites<T>(rows * columns, random);
      const auto y = finites<T>(rows * columns, random);
      State whole = ExactState::make(shape_of<T>(factors(), columns));
      whole->add(bytes(x), factors() == 2 ? bytes(y) : nullptr, rows, Way::added);
      State parts[3];
      for (State& part : parts) part = ExactState::make(whole->shape());
      for (std::size_t row = 0; row < rows;) {
        const std::size_t some = std::min<std::size_t>(rows - row, 1 + random() % 70);
        const std::size_t at = row * columns * sizeof(T);
        ExactState& part = *parts[random() % 3];
        part.add(bytes(x) + at, factors() == 2 ? bytes(y) + at : nullptr, some, Way::added);
        row += some;
      }
      parts[2]->merge(*parts[0], Way::added);
      parts[2]->merge(*parts[1], Way::added);
      ASSERT_EQ(file(*parts[2]), file(*whole));
      State negative = ExactState::make(whole->shape());
      negative->add(bytes(x), factors() == 2 ? bytes(y) : nullptr, rows, Way::taken_away);
      parts[2]->negate();
      ASSERT_EQ(file(*parts[2]), file(*negative));
      parts[2]->merge(*negative, Way::taken_away);
      ASSERT_EQ(file(*parts[2]), file(*ExactState::make(whole->shape())));
      whole->merge(*negative, Way::added);
      ASSERT_EQ(file(*whole), file(*ExactState::make(whole->shape())));
    }
  });
}

/// Products of elements and 1 are the elements, whatever they are.
TEST(KeptSum, ElementsAmongProducts) {
  const std::vector<double> x = {1, -0.0, 0.0, largest<double>, -smallest<double>, infinity<double>, -3};
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::vector<double> one = {x[i]};
    EXPECT_EQ(bits(rounded<double>(*sum_of(one, 2))[0]), bits(x[i]));
    State by_ones = ExactState::make(shape_of<double>(2));
    change(*by_ones, one, {1.0});
    EXPECT_EQ(file(*by_ones), file(*sum_of(one, 2)));
  }
}

TEST(KeptSum, SignOfZero) {
  const auto sum = [](const std::vector<double>& added, const std::vector<double>& taken_away) {
    State state = sum_of(added);
    change(*state, taken_away, Way::taken_away);
    return bits(rounded<double>(*state)[0]);
  };
  const std::uint64_t minus = bits(-0.0);
  EXPECT_EQ(sum({}, {}), 0u);
  EXPECT_EQ(sum({-0.0}, {}), minus);
  EXPECT_EQ(sum(std::vector<double>(40, -0.0), {}), minus);
  EXPECT_EQ(sum({-0.0, 0.0}, {}), 0u);
  EXPECT_EQ(sum({-0.0, 0.0}, {0.0}), minus);
  EXPECT_EQ(sum({-0.0, 0.0}, {-0.0}), 0u);
  EXPECT_EQ(sum({-0.0, 5, -5}, {}), 0u);
  EXPECT_EQ(sum({-0.0, 5}, {5}), minus);
  EXPECT_EQ(sum({5}, {5}), 0u);
  EXPECT_EQ(sum({-0.0}, {-0.0}), 0u);
  EXPECT_EQ(sum({}, {-0.0}), 0u);
  EXPECT_EQ(sum({}, {0.0}), 0u);
  const auto product = [](double x, double y) {
    State state = ExactState::make(shape_of<double>(2));
    change(*state, std::vector{x}, std::vector{y});
    const std::uint64_t once = bits(rounded<double>(*state)[0]);
    change(*state, std::vector{x}, std::vector{y});
    change(*state, std::vector{x}, std::vector{y}, Way::taken_away);
    EXPECT_EQ(bits(rounded<double>(*state)[0]), once) << x << " * " << y;
    return once;
  };
  EXPECT_EQ(product(-0.0, 3), minus);
  EXPECT_EQ(product(0.0, -3), minus);
  EXPECT_EQ(product(-3, 0.0), minus);
  EXPECT_EQ(product(-0.0, -3), 0u);
  EXPECT_EQ(product(-0.0, 0.0), minus);
  EXPECT_EQ(product(-smallest<double>, smallest<double>), minus) << "a number below zero, rounded";
}

/// They are flags that stay.
TEST(KeptSum, SpecialValues) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::uint64_t canonical = 0x7FF8000000000000;
  State state = sum_of<double>({1, infinity<double>});
  EXPECT_EQ(rounded<double>(*state)[0], infinity<double>);
  state->negate();
  EXPECT_EQ(rounded<double>(*state)[0], -infinity<double>);
  change<double>(*state, {infinity<double>}, Way::taken_away);
  EXPECT_EQ(rounded<double>(*state)[0], -infinity<double>);
  state->merge(*sum_of<double>({-infinity<double>}), Way::taken_away);
  EXPECT_EQ(bits(rounded<double>(*state)[0]), canonical) << "-inf + inf";
  State undone = sum_of<double>({infinity<double>});
  change<double>(*undone, {infinity<double>}, Way::taken_away);
  EXPECT_EQ(bits(rounded<double>(*undone)[0]), canonical);
  State not_a_number = sum_of<double>({nan});
  not_a_number->negate();
  EXPECT_EQ(bits(rounded<double>(*not_a_number)[0]), canonical);
  State of_zero = ExactState::make(shape_of<double>(2));
  change<double>(*of_zero, {infinity<double>}, {0.0});
  EXPECT_EQ(bits(rounded<double>(*of_zero)[0]), canonical);
}

TEST(KeptSum, Compares) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto compare = [](const std::vector<double>& a, const std::vector<double>& b) {
    return sum_of(a)->compare(*sum_of(b), 0);
  };
  EXPECT_EQ(compare({}, {}), Comparison::equal);
  EXPECT_EQ(compare({0.0}, {-0.0}), Comparison::equal);
  EXPECT_EQ(compare({1}, {1, smallest<double>}), Comparison::less);
  EXPECT_EQ(compare({-1}, {-1, smallest<double>}), Comparison::less);
  EXPECT_EQ(compare({-1}, {1}), Comparison::less);
  EXPECT_EQ(compare({}, {-smallest<double>}), Comparison::greater);
  EXPECT_EQ(compare({largest<double>, largest<double>}, {largest<double>}), Comparison::greater);
  EXPECT_EQ(compare({0x1p-1042}, {0x1p-1042, -smallest<double>}), Comparison::greater) << "across a digit";
  EXPECT_EQ(compare({infinity<double>}, {largest<double>}), Comparison::greater);
  EXPECT_EQ(compare({-infinity<double>, 3}, {-largest<double>}), Comparison::less);
  EXPECT_EQ(compare({-infinity<double>}, {infinity<double>}), Comparison::less);
  EXPECT_EQ(compare({infinity<double>, 1}, {infinity<double>, 2}), Comparison::equal);
  EXPECT_EQ(compare({nan}, {1}), Comparison::unordered);
  EXPECT_EQ(compare({1}, {nan}), Comparison::unordered);
  EXPECT_EQ(compare({infinity<double>}, {infinity<double>, -infinity<double>}), Comparison::unordered);
}

/// Doubled until it is refused: by then it was larger than 2^72 of the largest terms, and never lost a bit.
TEST_P(Kept, RoomEndsBeforeDigitsDo) {
  with_type([&]<class T>(T) {
    for (const T sign : {T{1}, T{-1}}) {
      State state = ExactState::make(shape_of<T>(factors()));
      const std::vector<T> x = {sign * largest<T>};
      factors() == 2 ? change(*state, x, {largest<T>}) : change(*state, x);
      change(*state, std::vector<T>{sign * smallest<T>});
      State none = state->copy();
      none->set_rows(0);
      int doublings = 0;
      std::vector<State> powers;
      for (State power = none->copy(); power->has_room() && doublings < 200; ++doublings) {
        powers.push_back(power->copy());
        power->merge(*power, Way::added);
        power->set_rows(0);
      }
      EXPECT_GE(doublings, 72);
      EXPECT_LE(doublings, 100);
      State top = powers.back()->copy();
      top->merge(*powers.back(), Way::added);
      EXPECT_FALSE(top->has_room());
      const auto written = file(*top);
      std::string wrong;
      const State read = read_file(written, wrong);
      ASSERT_NE(read, nullptr) << wrong;
      EXPECT_EQ(file(*read), written);
      State empty = ExactState::make(state->shape());
      EXPECT_EQ(top->compare(*empty, 0), sign > 0 ? Comparison::greater : Comparison::less);
      // All halves again: what is left is the first.
      State rest = powers.back()->copy();
      for (std::size_t i = powers.size() - 1; i-- > 0;) rest->merge(*powers[i], Way::taken_away);
      EXPECT_EQ(rest->compare(*powers.front(), 0), Comparison::equal);
      rest->merge(*powers.front(), Way::taken_away);
      EXPECT_EQ(file(*rest), file(*empty));
    }
  });
}

TEST(KeptSum, RowsHaveRoom) {
  State state = sum_of<double>({1});
  state->set_rows((std::int64_t{1} << 62) - 1);
  EXPECT_TRUE(state->has_room());
  state->set_rows(std::int64_t{1} << 62);
  EXPECT_FALSE(state->has_room());
  state->set_rows(-(std::int64_t{1} << 62));
  EXPECT_FALSE(state->has_room());
}

#ifdef STEADFOLD_HAVE_MPFR
using steadfold::reference::ExactSum;

/// A state and its oracle, which never sees a digit.
struct Pair {
  State state;
  std::unique_ptr<ExactSum> oracle = std::make_unique<ExactSum>();
};

template <class T>
void change(Pair& pair, const Rows<T>& rows, Way way) {
  rows.change(*pair.state, way);
  const double sign = way == Way::added ? 1 : -1;
  const std::vector<T>& y = rows.squares ? rows.x : rows.y;
  for (std::size_t i = 0; i < rows.x.size(); ++i) {
    const double x = sign * static_cast<double>(rows.x[i]);
    y.empty() ? pair.oracle->add(x) : pair.oracle->add_product(x, static_cast<double>(y[i]));
  }
}

template <class T>
void expect_alike(const Pair& pair, const std::string& where) {
  // The oracle's zeros are those of another rule.
  const auto same = [&](auto found, auto due) {
    EXPECT_TRUE(bits(found) == bits(due) || (found == 0 && due == 0)) << where << ": " << found << ", due " << due;
  };
  same(rounded<double>(*pair.state)[0], pair.oracle->template rounded<double>());
  same(rounded<float>(*pair.state)[0], pair.oracle->template rounded<float>());
  const std::int64_t rows = pair.state->rows();
  if (rows > 0)
    same(rounded<double>(*pair.state, Operation::mean)[0],
         pair.oracle->template divided_by<double>(static_cast<unsigned long>(rows)));
  if (pair.state->shape().factors == 2 && pair.oracle->sign() > 0)
    same(rounded<float>(*pair.state, Operation::norm2)[0], pair.oracle->template rounded_root<float>());
}

TEST_P(Kept, RandomProgramsMpfr) {
  with_type([&]<class T>(T) {
    for (int program = 0; program < 40; ++program) {
      std::vector<Pair> pairs(3);
      for (Pair& pair : pairs) pair.state = ExactState::make(shape_of<T>(factors()));
      for (int step = 0; step < 30; ++step) {
        const std::string where = "program " + std::to_string(program) + " step " + std::to_string(step);
        Pair& one = pairs[random() % 3];
        Pair& other = pairs[random() % 3];
        switch (random() % 6) {
          case 0:
          case 1: change(one, Rows<T>(some_rows(random) % 40, factors(), 1, random), Way::added); break;
          case 2: change(one, Rows<T>(some_rows(random) % 40, factors(), 1, random), Way::taken_away); break;
          case 3: {
            one.state->merge(*other.state, Way::added);
            one.oracle->merge(*other.oracle, 1);
            break;
          }
          case 4: {
            one.state->merge(*other.state, Way::taken_away);
            one.oracle->merge(*other.oracle, -1);
            break;
          }
          default: {
            one.state->negate();
            one.oracle->negate();
          }
        }
        expect_alike<T>(one, where);
        EXPECT_EQ(static_cast<int>(one.state->compare(*other.state, 0)), compare(*one.oracle, *other.oracle)) << where;
        if (testing::Test::HasFailure()) return;
      }
    }
  });
}
#endif

}  // namespace
}  // namespace steadfold::test::exact_state_test
