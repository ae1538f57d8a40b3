// The binned partial: any order, splitting and merge tree gives the same bytes, and they stand for the sum of terms
// that were rounded to the lowest bin, which MPFR adds up by itself. Bits are compared as integers; seeds are printed.
#include "arithmetic/binned/binned.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <random>
#include <set>
#include <vector>

#include "arithmetic/ieee.hpp"
#ifdef STEADFOLD_HAVE_MPFR
#include "arithmetic/mpfr.hpp"
#endif

namespace steadfold::arithmetic::binned_test {
namespace {

using Record = std::vector<std::byte>;

constexpr Operation operations[] = {Operation::sum, Operation::mean, Operation::dot, Operation::sum_squares,
                                    Operation::norm2};

template <class Element>
constexpr Type type_of = std::is_same_v<Element, float> ? Type::f32 : Type::f64;

template <class Element>
Block block_of(const std::vector<Element>& first, const std::vector<Element>& second, Count begin, Count rows,
               Count columns = 1) {
  const auto at = [&](const std::vector<Element>& from) {
    return reinterpret_cast<const std::byte*>(from.data() + begin * columns);
  };
  return {.first = at(first), .second = at(second), .rows = rows, .row_stride = columns * sizeof(Element)};
}

Record written(const PartialKind& kind, Builder& builder) {
  Record out(kind.capacity({}));
  out.resize(builder.write(out));
  return out;
}

template <class Element>
Record record_of(const PartialKind& kind, const std::vector<Element>& first, const std::vector<Element>& second,
                 Count columns = 1) {
  const auto builder = kind.builder();
  builder->push(0, block_of(first, second, 0, first.size() / columns, columns));
  return written(kind, *builder);
}

Record merged(const PartialKind& kind, const Record& left, const Record& right) {
  Record out(kind.capacity({}));
  out.resize(merge(kind, left, right, out));
  return out;
}

template <class Result>
Result value_of(const PartialKind& kind, const Record& record) {
  Result value{};
  EXPECT_EQ(kind.value_bytes(), sizeof value);
  EXPECT_EQ(kind.finish(record, unknown_count, reinterpret_cast<std::byte*>(&value), nullptr), Status::ok);
  return value;
}

double sum_of(const std::vector<double>& x, int bin_count = 3, Operation operation = Operation::sum) {
  const auto kind = make_binned(operation, Type::f64, Type::f64, bin_count, Sweep::single_sweep, 1);
  return value_of<double>(*kind, record_of(*kind, x, x));
}

/// Exponents over all the format, zeros, subnormals, and values around the borders of bins.
template <class Element>
Element hostile(std::mt19937_64& random, int least, int most) {
  using Limits = std::numeric_limits<Element>;
  const auto sign = static_cast<Element>(random() % 2 == 0 ? 1 : -1);
  const int exponent = least + static_cast<int>(random() % static_cast<std::uint64_t>(most - least + 1));
  const auto mantissa = static_cast<Element>(1 + std::ldexp(static_cast<double>(random() >> 12), -52));
  switch (random() % 8) {
    case 0: return sign * Element{0};
    case 1: return std::copysign(std::ldexp(Element{1}, exponent), sign);
    case 2: return std::copysign(std::ldexp(Element{2} - Limits::epsilon(), exponent), sign);
    case 3: return std::copysign(std::ldexp(Element{1.5}, exponent), sign);
    default: return std::copysign(std::ldexp(std::min(mantissa, Element{2} - Limits::epsilon()), exponent), sign);
  }
}

/// Half of it cancels the other half. The exponents lie around a centre, or all over the format.
template <class Element>
std::vector<Element> hostile_data(std::mt19937_64& random, Count count, int margin) {
  using Limits = std::numeric_limits<Element>;
  int least = Limits::min_exponent - Limits::digits;
  int most = Limits::max_exponent - 1 - margin;
  if (random() % 2 == 0) {
    least += static_cast<int>(random() % static_cast<std::uint64_t>(most - least));
    most = std::min(most, least + static_cast<int>(random() % 150));
  }
  std::vector<Element> values(count);
  for (Element& value : values) value = hostile<Element>(random, least, most);
  for (Count i = 0; i + 1 < count; i += 2) {
    if (random() % 2 == 0) values[i + 1] = -values[i];
  }
  return values;
}

class Hostile : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Bins, Hostile, testing::Values(2, 3, 4));

/// One builder of all rows, and any other way, in any order of rows and columns of any number.
template <class Element>
void expect_one_record(Operation operation, int bin_count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const Count columns = 1 + random() % 3;
  const Count rows = random() % 3000;
  const auto first = hostile_data<Element>(random, rows * columns, 0);
  const auto second = hostile_data<Element>(random, rows * columns, 0);
  const auto kind = make_binned(operation, type_of<Element>, Type::f64, bin_count, Sweep::single_sweep, columns);
  const Record whole = record_of(*kind, first, second, columns);

  std::vector<Count> order(rows);
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), random);
  std::vector<Element> shuffled[2];
  for (const Count row : order) {
    for (Count column = 0; column < columns; ++column) {
      shuffled[0].push_back(first[row * columns + column]);
      shuffled[1].push_back(second[row * columns + column]);
    }
  }
  std::vector<Record> parts;
  const auto builder = kind->builder();
  for (Count begin = 0; begin < rows || parts.empty();) {
    builder->clear();
    for (Count blocks = random() % 4; blocks > 0 || begin == rows; --blocks) {
      const Count some = std::min(rows - begin, random() % (random() % 4 == 0 ? 1500 : 40));
      builder->push(begin, block_of(shuffled[0], shuffled[1], begin, some, columns));
      begin += some;
      if (begin == rows) break;
    }
    parts.push_back(written(*kind, *builder));
  }
  while (parts.size() > 1) {
    const std::size_t at = random() % parts.size();
    const std::size_t with = random() % parts.size();
    if (at == with) continue;
    parts[at] = merged(*kind, parts[at], parts[with]);
    parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(with));
  }
  EXPECT_EQ(parts[0], whole) << name_of(operation) << ", seed " << seed << ", rows " << rows;
}

/// Two workers that both begin with the bin range of all.
template <class Element>
void expect_record_of_both_sweeps(Operation operation, int bin_count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const Count columns = 1 + random() % 3;
  const Count rows = random() % 1500;
  const Count cut = random() % (rows + 1);
  const auto first = hostile_data<Element>(random, rows * columns, 0);
  const auto second = hostile_data<Element>(random, rows * columns, 0);
  const auto once = make_binned(operation, type_of<Element>, Type::f64, bin_count, Sweep::single_sweep, columns);
  const auto twice = make_binned(operation, type_of<Element>, Type::f64, bin_count, Sweep::double_sweep, columns);
  EXPECT_EQ(once->survey_bytes(), 0u);
  Record surveyed(twice->survey_bytes());
  ASSERT_EQ(surveyed.size(), columns);
  const Block blocks[] = {block_of(first, second, 0, cut, columns), block_of(first, second, cut, rows - cut, columns)};
  Record parts[2];
  const std::unique_ptr<Builder> builders[] = {twice->builder(), twice->builder()};
  for (int i = 0; i < 2; ++i) {
    Record mine(columns);
    builders[i]->surveyor()->survey(0, blocks[i]);
    builders[i]->surveyor()->write_survey(mine);
    std::ranges::transform(surveyed, mine, surveyed.begin(), [](auto a, auto b) { return std::max(a, b); });
  }
  for (int i = 0; i < 2; ++i) {
    builders[i]->surveyor()->expect(surveyed);
    builders[i]->clear();
    builders[i]->push(0, blocks[i]);
    parts[i] = written(*twice, *builders[i]);
  }
  EXPECT_EQ(merged(*twice, parts[0], parts[1]), record_of(*once, first, second, columns))
      << name_of(operation) << ", seed " << seed;
}

TEST_P(Hostile, BothSweepsGiveOneRecord) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    for (const Operation operation : operations) {
      expect_record_of_both_sweeps<double>(operation, GetParam(), seed);
      expect_record_of_both_sweeps<float>(operation, GetParam(), seed);
    }
    if (HasFailure()) return;
  }
}

TEST_P(Hostile, AnyOrderSplittingAndMergeTreeGivesOneRecord) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    for (const Operation operation : operations) {
      expect_one_record<double>(operation, GetParam(), seed);
      expect_one_record<float>(operation, GetParam(), seed);
    }
    if (HasFailure()) return;
  }
}

#ifdef STEADFOLD_HAVE_MPFR
/// The terms as fractions and exponents, their lowest bin by the definition, and their sum by MPFR.
class Reference {
 public:
  void add(double fraction, int exponent) {
    int more = 0;
    fraction = std::frexp(fraction, &more);
    terms_.push_back({fraction, exponent + more});
  }
  template <class Element>
  Reference(Operation operation, const std::vector<Element>& first, const std::vector<Element>& second)
      : operation_(operation), base_(squares(operation) ? -2148 : -1074) {
    for (std::size_t i = 0; i < first.size(); ++i) {
      const double x = first[i];
      int exponent = 0;
      const double fraction = std::frexp(x, &exponent);
      if (squares(operation))
        add(fraction * fraction, 2 * exponent);
      else
        add(operation == Operation::dot ? x * static_cast<double>(second[i]) : x, 0);
      if (squares(operation)) largest_ = std::max(largest_, 2 * (x == 0 ? -1074 : exponent));
    }
    if (!squares(operation))
      for (const auto& [fraction, exponent] : terms_) largest_ = std::max(largest_, fraction == 0 ? -1074 : exponent);
  }

  /// Every term rounded to a multiple of 2^quantum, ties to even.
  template <class Result>
  Result value(int bin_count) const {
    const int top = std::max(bin_count - 1, (largest_ - base_) / 40);
    const int quantum = base_ + 40 * (top - bin_count + 1);
    reference::ExactSum sum;
    for (const auto& [fraction, exponent] : terms_) {
      int place = 0;
      const double whole = std::nearbyint(std::ldexp(fraction, exponent - quantum));
      const double rounded = std::frexp(whole, &place);
      place += quantum;
      sum.add_product(std::ldexp(rounded, place / 2), std::ldexp(1.0, place - place / 2));
    }
    if (operation_ == Operation::norm2) return sum.rounded_root<Result>();
    if (operation_ == Operation::mean) return sum.divided_by<Result>(terms_.size());
    return sum.rounded<Result>();
  }

 private:
  struct Term {
    double fraction;
    int exponent;
  };
  Operation operation_;
  int base_;
  int largest_ = -4000;
  std::vector<Term> terms_;
};

template <class Element, class Result>
void expect_reference(Operation operation, int bin_count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const Count rows = 1 + random() % (seed % 4 == 0 ? 2000 : 20);
  const int margin = operation == Operation::dot ? std::numeric_limits<Element>::max_exponent / 2 + 1 : 3;
  const auto first = hostile_data<Element>(random, rows, margin);
  const auto second = hostile_data<Element>(random, rows, margin);
  const auto kind = make_binned(operation, type_of<Element>, type_of<Result>, bin_count, Sweep::single_sweep, 1);
  const auto found = value_of<Result>(*kind, record_of(*kind, first, second));
  const auto expected = Reference(operation, first, second).template value<Result>(bin_count);
  EXPECT_EQ(std::bit_cast<test::BitsOf<Result>>(found), std::bit_cast<test::BitsOf<Result>>(expected))
      << name_of(operation) << ", " << found << " for " << expected << ", seed " << seed << ", rows " << rows;
}

TEST_P(Hostile, TheSumIsThatOfTermsRoundedToTheLowestBin) {
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    for (const Operation operation : operations) {
      expect_reference<double, double>(operation, GetParam(), seed);
      expect_reference<float, float>(operation, GetParam(), seed);
      expect_reference<float, double>(operation, GetParam(), seed);
      expect_reference<double, float>(operation, GetParam(), seed);
    }
    if (HasFailure()) return;
  }
}

/// |sum - exact sum| <= N 2^(-40 (K - 1)) max|x|, and half a unit in the last place of the result.
TEST_P(Hostile, TheErrorIsWithinTheDocumentedBound) {
  const int bin_count = GetParam();
  bool ever_differs = false;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    std::mt19937_64 random(seed);
    const auto x = hostile_data<double>(random, 1 + random() % 300, 12);
    const double found = sum_of(x, bin_count);
    reference::ExactSum error;
    error.add(-found);
    double largest = 0;
    for (const double each : x) {
      error.add(each);
      largest = std::max(largest, std::abs(each));
    }
    const double unit = std::nextafter(std::abs(found), std::numeric_limits<double>::infinity()) - std::abs(found);
    const double bound = std::ldexp(static_cast<double>(x.size()) * largest, -40 * (bin_count - 1)) + unit / 2;
    EXPECT_LE(std::abs(error.rounded<double>()), bound) << "seed " << seed;
    ever_differs = ever_differs || std::abs(error.rounded<double>()) > unit / 2;
  }
  EXPECT_TRUE(ever_differs) << "the data never show the bound's first part";
}
#endif

TEST(Binned, TheControlDependsOnTheOrder) {
  std::mt19937_64 random(7);
  auto x = test::wide_values<double>(random, 1000);
  std::set<std::uint64_t> loops;
  std::set<std::uint64_t> bins;
  for (int i = 0; i < 20; ++i) {
    std::shuffle(x.begin(), x.end(), random);
    loops.insert(std::bit_cast<std::uint64_t>(std::accumulate(x.begin(), x.end(), 0.0)));
    bins.insert(std::bit_cast<std::uint64_t>(sum_of(x)));
  }
  EXPECT_GT(loops.size(), 1u);
  EXPECT_EQ(bins.size(), 1u);
}

void expect_sum(const std::vector<double>& x, std::uint64_t expected, Operation operation = Operation::sum) {
  for (const int bin_count : {3, 4}) {
    EXPECT_EQ(std::bit_cast<std::uint64_t>(sum_of(x, bin_count, operation)), expected)
        << name_of(operation) << " of " << x.size() << " elements, the first " << (x.empty() ? 0 : x[0]);
  }
}

TEST(Binned, SpecialValuesAreThoseOfExact) {
  constexpr double inf = std::numeric_limits<double>::infinity();
  constexpr double max = std::numeric_limits<double>::max();
  constexpr double smallest = std::numeric_limits<double>::denorm_min();
  const double signalling = std::bit_cast<double>(std::uint64_t{0xFFF0000000000001});
  const auto bits = [](double x) { return std::bit_cast<std::uint64_t>(x); };
  constexpr std::uint64_t nan = 0x7FF8000000000000;
  constexpr std::uint64_t minus_zero = 0x8000000000000000;
  expect_sum({}, 0);
  expect_sum({-0.0}, minus_zero);
  expect_sum(std::vector<double>(600, -0.0), minus_zero);
  expect_sum({-0.0, 0.0}, 0);
  expect_sum({1.0, -1.0}, 0);
  expect_sum({1.0, -0.0, -inf}, bits(-inf));
  expect_sum({inf, 5.0, -inf}, nan);
  expect_sum({signalling, 1.0}, nan);
  expect_sum({-max, max, max}, bits(max));
  expect_sum({-max, -max}, bits(-inf));
  expect_sum({max, -max, smallest, max, -max}, 0);  // far below the lowest bin
  expect_sum(std::vector<double>(1000, smallest), 1000);
  expect_sum({0x1p-1022, -smallest}, 0x000FFFFFFFFFFFFF);
  expect_sum({max}, bits(max), Operation::norm2);
  expect_sum({-smallest}, bits(smallest), Operation::norm2);
  expect_sum({3 * smallest, -4 * smallest}, 5, Operation::norm2);
  expect_sum({0x1.8p1023, -0x1p1021}, bits(std::sqrt(37.0) * 0x1p1021), Operation::norm2);
  expect_sum({max, max}, bits(inf), Operation::norm2);
  expect_sum({-0.0}, 0, Operation::norm2);
  expect_sum({1.0, -inf}, bits(inf), Operation::norm2);
  expect_sum({1.0, -inf, signalling}, nan, Operation::norm2);
  expect_sum({max, max, max}, bits(max), Operation::mean);
}

TEST(Binned, AProductThatOverflowsIsInfinite) {
  const std::vector<double> x = {0x1p600, -0x1p600, 1.0};
  const auto kind = make_binned(Operation::dot, Type::f64, Type::f64, 3, Sweep::single_sweep, 1);
  EXPECT_TRUE(std::isnan(value_of<double>(*kind, record_of(*kind, x, std::vector<double>{0x1p600, 0x1p600, 1.0}))));
  EXPECT_EQ(value_of<double>(*kind, record_of(*kind, x, std::vector<double>{0x1p600, 1.0, 1.0})),
            std::numeric_limits<double>::infinity());
}

TEST(Binned, BlocksOfAnySizeAreCarried) {
  const auto kind = make_binned(Operation::sum, Type::f64, Type::f64, 3, Sweep::single_sweep, 1);
  const double largest_share = -0x1.FFFFFFFFFFFFFp+38;
  for (const Count count : {Count{511}, Count{512}, Count{513}, Count{1} << 22}) {
    const std::vector<double> x(count, largest_share);
    const double expected = static_cast<double>(count) * largest_share;  // exact, or rounded once
    EXPECT_EQ(value_of<double>(*kind, record_of(*kind, x, x)), expected) << count;
  }
}

/// A random number: its magnitude, or its square's, is near the smallest one that needs this top bin, at most `below`
/// binades under it. One in 64 is a zero.
template <class Element>
Element near_a_top(std::mt19937_64& random, int top, int below, bool is_squared) {
  if (random() % 64 == 0) return random() % 2 == 0 ? Element{0} : -Element{0};
  const int exponent =
      -1074 + (is_squared ? 20 : 40) * top - 1 - static_cast<int>(random() % (static_cast<std::uint64_t>(below) + 1));
  const Element factor = random() % 2 == 0 ? Element{1} : Element{2} - std::numeric_limits<Element>::epsilon();
  const Element magnitude = std::ldexp(factor, std::max(exponent, -1074));
  return random() % 2 == 0 ? magnitude : -magnitude;
}

/// Columns that come together take the bin ranges of their neighbours for their own until they know better: records are
/// those of columns that come one by one, whatever stands beside them, and whatever the others expected.
template <class Element>
void expect_own_bin_ranges(Operation operation, int bin_count, std::uint64_t seed) {
  constexpr Count columns = 43;
  std::mt19937_64 random(seed);
  const auto sweep = random() % 2 == 0 ? Sweep::single_sweep : Sweep::double_sweep;
  const auto kind = make_binned(operation, type_of<Element>, Type::f64, bin_count, sweep, columns);
  const std::unique_ptr<Builder> together = kind->builder(), apart = kind->builder();
  const bool is_squared = operation == Operation::norm2;
  constexpr int lowest = std::is_same_v<Element, float> ? 24 : 1;  // of a top bin that such elements have
  const int usual =
      (is_squared ? 2 : 1) * lowest + static_cast<int>(random() % (lowest > 1 || random() % 2 == 0 ? 4 : 20));
  const auto draw = [&](Count rows) {
    std::vector<Element> x(rows * columns);
    for (Count begin = 0; begin < columns; begin += 8) {
      const int top = usual + (random() % 4 == 0 ? static_cast<int>(random() % 5) - 2 : 0);
      const int below = random() % 2 == 0 ? 0 : static_cast<int>(random() % 3);
      for (Count i = begin; i < std::min(begin + 8, columns); ++i)
        for (Count row = 0; row < rows; ++row)
          x[row * columns + i] = near_a_top<Element>(random, std::max(top, 1), below, is_squared);
    }
    return x;
  };
  const auto draw_factors = [&](Count rows) {
    std::vector<Element> y(rows * columns);
    for (Element& each : y) each = static_cast<Element>(random() % 8 == 0 ? -2 : random() % 2 == 0 ? -1 : 1);
    return y;
  };
  if (sweep == Sweep::double_sweep) {
    Record tops(columns);
    const std::vector<Element> of_all = draw(1), factors = draw_factors(1);
    together->surveyor()->survey(0, block_of(of_all, factors, 0, 1, columns));
    together->surveyor()->write_survey(tops);
    for (const auto& each : {&together, &apart}) (*each)->surveyor()->expect(tops);
  }
  together->clear();
  apart->clear();
  for (int push = 0; push < 3; ++push) {
    const Count rows = 1 + random() % 3;
    const std::vector<Element> x = draw(rows), y = draw_factors(rows);
    const Block block = block_of(x, y, 0, rows, columns);
    together->push(0, block);
    for (Count i = 0; i < columns; ++i)
      apart->columns()->column(i).push(0, {.first = block.first + i * sizeof(Element),
                                           .second = block.second + i * sizeof(Element),
                                           .rows = rows,
                                           .row_stride = block.row_stride});
    ASSERT_EQ(written(*kind, *together), written(*kind, *apart)) << "seed " << seed << ", push " << push;
  }
}

TEST(Binned, BinRangesOfColumnsAreTheirOwn) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed)
    ASSERT_NO_FATAL_FAILURE(expect_own_bin_ranges<double>(Operation::sum, 3, seed));
  for (const Operation operation : {Operation::sum, Operation::dot, Operation::norm2})
    for (const int bin_count : {2, 3, 4})
      for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        SCOPED_TRACE(std::string(name_of(operation)) + " in " + std::to_string(bin_count) + " bins");
        ASSERT_NO_FATAL_FAILURE(expect_own_bin_ranges<double>(operation, bin_count, seed));
        ASSERT_NO_FATAL_FAILURE(expect_own_bin_ranges<float>(operation, bin_count, seed));
      }
}

/// Kernels look at whole groups of columns: what is no record is refused in each of them, on either side.
TEST(Binned, DamagedGroupsAreRefused) {
  constexpr Count columns = 19;
  constexpr std::size_t of_records = 24;  // bytes before the columns
  std::vector<double> x(2 * columns);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = std::ldexp(static_cast<double>(i + 1), i % columns == 3 ? 60 : 0);
  for (const int bin_count : {2, 3, 4}) {
    const auto kind = make_binned(Operation::sum, Type::f64, Type::f64, bin_count, Sweep::single_sweep, columns);
    const Record good = record_of(*kind, x, x, columns);
    const Record more =
        record_of(*kind, std::vector<double>(64 * columns, 0.25), x, columns);  // its sums may be larger
    std::vector<double> values(columns);
    const auto expect_refused = [&](const Record& bad) {
      EXPECT_EQ(kind->finish(bad, unknown_count, reinterpret_cast<std::byte*>(values.data()), nullptr),
                Status::transport_failed);
      for (const Record& other : {good, more}) {
        EXPECT_EQ(header_of(merged(*kind, bad, other)).status, Status::transport_failed);
        EXPECT_EQ(header_of(merged(*kind, other, bad)).status, Status::transport_failed);
      }
    };
    ASSERT_EQ(header_of(merged(*kind, good, more)).status, Status::ok);
    const auto bins = static_cast<std::size_t>(bin_count);
    for (std::size_t column = 0; column < columns; ++column) {
      SCOPED_TRACE("column " + std::to_string(column) + ", " + std::to_string(bin_count) + " bins");
      const std::size_t begin = column / 8 * 8;
      const std::size_t together = std::min<std::size_t>(8, columns - begin);
      const std::size_t group = of_records + begin * (8 * bins + 2);
      const std::size_t tops = group + together * 8 * bins;
      for (const int top : {bin_count - 2, 53, 128, 255}) {
        Record bad = good;
        bad[tops + column - begin] = static_cast<std::byte>(top);
        expect_refused(bad);
      }
      Record flagged = good;
      flagged[tops + together + column - begin] |= std::byte{16};
      expect_refused(flagged);
      for (std::size_t bin = 0; bin < bins; ++bin)
        for (const std::int64_t beyond : {(std::int64_t{1} << 40) + 1, -(std::int64_t{1} << 40) - 1}) {  // for two rows
          Record bad = good;
          std::memcpy(&bad[group + 8 * (bin * together + column - begin)], &beyond, sizeof beyond);
          expect_refused(bad);
        }
    }
  }
}

TEST(Binned, DamagedRecordsAreRefused) {
  const auto kind = make_binned(Operation::sum, Type::f64, Type::f64, 3, Sweep::single_sweep, 2);
  const std::vector<double> x = {1.0, 2.0, 3.0, 4.0};
  const Record good = record_of(*kind, x, x, 2);
  std::vector<double> values(2);
  const auto finished = [&](const Record& record) {
    return kind->finish(record, unknown_count, reinterpret_cast<std::byte*>(values.data()), nullptr);
  };
  ASSERT_EQ(finished(good), Status::ok);
  const auto damaged = [](Record record, std::size_t at, unsigned value) {
    record[at] = static_cast<std::byte>(value);
    return record;
  };
  const auto expect_refused_together = [&](const Record& left, const Record& right) {
    EXPECT_EQ(header_of(merged(*kind, left, right)).status, Status::transport_failed);
  };
  const auto expect_refused = [&](const Record& each, const Record& other) {
    EXPECT_EQ(finished(each), Status::transport_failed);
    expect_refused_together(each, other);
    expect_refused_together(other, each);
  };
  constexpr bool ends_with_highest = std::endian::native == std::endian::little;
  constexpr std::size_t sums = 24;
  constexpr std::size_t tops = sums + 48;
  constexpr std::size_t flags = tops + 2;
  expect_refused(damaged(good, tops, 1), good);
  expect_refused(damaged(good, tops + 1, 53), good);
  expect_refused(damaged(good, flags + 1, 16), good);
  expect_refused(damaged(good, sums + (ends_with_highest ? 7 : 0), 0x40), good);
  expect_refused(damaged(good, sums + 40 + (ends_with_highest ? 7 : 0), 0xC0), good);
  for (const std::int64_t beyond : {(std::int64_t{1} << 40) + 1, -(std::int64_t{1} << 40) - 1}) {  // for two rows
    Record bad = good;
    std::memcpy(&bad[sums + 8], &beyond, sizeof beyond);
    expect_refused(bad, good);
  }
  expect_refused({good.begin(), good.end() - 1}, good);
  expect_refused({good.begin(), good.begin() + 16}, good);

  const auto builder = kind->builder();  // of so many rows that bins have two words
  builder->push(0, {.first = reinterpret_cast<const std::byte*>(x.data()), .rows = 1 << 24, .row_stride = 0});
  const Record many = written(*kind, *builder);
  ASSERT_EQ(finished(many), Status::ok);
  constexpr std::size_t descriptor = 24;
  expect_refused(damaged(many, descriptor, 1), good);
  expect_refused(damaged(many, descriptor, 53), many);
  expect_refused(damaged(many, descriptor + 1, 16), good);
  expect_refused(damaged(many, descriptor + 2, 1), good);
  expect_refused(damaged(many, descriptor + 7, 9), many);
  expect_refused(damaged(many, descriptor + 8 + (ends_with_highest ? 15 : 0), 0x40), good);
  expect_refused({many.begin(), many.end() - 1}, good);
  Record more = many;  // together more rows than can be counted
  const Count half = (Count{1} << 63) + (1 << 24);
  std::memcpy(&more[sizeof(Header)], &half, sizeof half);
  expect_refused_together(more, more);
  EXPECT_EQ(kind->finish(good, 1, reinterpret_cast<std::byte*>(values.data()), nullptr), Status::overlap);
  EXPECT_EQ(kind->finish(good, 3, reinterpret_cast<std::byte*>(values.data()), nullptr), Status::gap);
}

TEST(Binned, TheMeanOfNoRowsIsEmpty) {
  const auto kind = make_binned(Operation::mean, Type::f32, Type::f32, 2, Sweep::single_sweep, 1);
  const std::vector<float> none;
  float value = 0;
  EXPECT_EQ(kind->finish(record_of(*kind, none, none), unknown_count, reinterpret_cast<std::byte*>(&value), nullptr),
            Status::empty);
}

}  // namespace
}  // namespace steadfold::arithmetic::binned_test
