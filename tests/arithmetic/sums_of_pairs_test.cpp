// Weighted means, covariances and correlations against MPFR, which divides and rounds once, on hostile data, however
// rows are split and merged; and what is no number. Seeds are printed.
#include "arithmetic/exact/sums_of_pairs.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "arithmetic/ieee.hpp"
#include "arithmetic/records.hpp"
#ifdef STEADFOLD_HAVE_MPFR
#include "arithmetic/mpfr.hpp"

namespace steadfold::test::sums_of_pairs_test {
namespace {

using arithmetic::make_sums_of_pairs;
using arithmetic::Operation;
using arithmetic::Type;
using arithmetic::unknown_count;

template <class T>
constexpr Type exact_type = sizeof(T) == 8 ? Type::f64 : Type::f32;

template <class T>
Part part_of(const PartialKind& kind, const std::vector<T>& x, const std::vector<T>& w, Count begin, Count end) {
  const auto builder = kind.builder();
  Part part;
  if (begin < end) part.rows.add({begin, end});
  builder->push(begin, {.first = reinterpret_cast<const std::byte*>(x.data() + begin),
                        .second = reinterpret_cast<const std::byte*>(w.data() + begin),
                        .rows = end - begin,
                        .row_stride = sizeof(T)});
  part.record = written(kind, *builder, part.rows);
  return part;
}

template <class T, class Result>
Result result_of(Operation operation, const std::vector<T>& x, const std::vector<T>& w, std::mt19937_64& random) {
  const auto kind = make_sums_of_pairs(operation, exact_type<T>, exact_type<Result>);
  const Count rows = x.size();
  const Part whole = part_of(*kind, x, w, 0, rows);
  std::vector<Part> parts;
  for (Count begin = 0, end = 0; begin < rows; begin = end) {
    end = std::min(rows, begin + 1 + random() % (rows / 2 + 1));
    parts.push_back(part_of(*kind, x, w, begin, end));
  }
  std::shuffle(parts.begin(), parts.end(), random);
  EXPECT_TRUE(same(merged_at_random(*kind, parts, random).record, whole.record)) << "parts are not the whole";
  const Finished found = finished(*kind, whole.record, rows);
  EXPECT_EQ(found.status, Status::ok);
  EXPECT_EQ(finished(*kind, whole.record, rows + 1).status, Status::gap);
  Result result;
  std::memcpy(&result, found.values.data(), sizeof result);
  return result;
}

template <class T, class Result>
Result mean_of(const std::vector<T>& x, const std::vector<T>& w, std::mt19937_64& random) {
  return result_of<T, Result>(Operation::weighted_mean, x, w, random);
}

template <class T>
void set_to_any_magnitudes(std::vector<T>& values, std::mt19937_64& random) {
  for (T& value : values)
    while (!std::isfinite(value = std::bit_cast<T>(static_cast<BitsOf<T>>(random())))) continue;
}

template <class T, class Result>
void expect_reference(std::uint64_t first_seed) {
  for (std::uint64_t seed = first_seed; seed < first_seed + 300; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937_64 random(seed);
    const Count rows = 1 + random() % 100;
    std::vector<T> x = wide_values<T>(random, rows);
    std::vector<T> w = wide_values<T>(random, rows);
    if (seed % 4 == 1)
      for (auto* each : {&x, &w}) set_to_any_magnitudes(*each, random);
    if (seed % 4 == 2)  // quotients that are numbers themselves, or lie in the middle of two
      for (Count i = 0; i < rows; ++i) {
        w[i] = static_cast<T>(1 + random() % 3);
        x[i] = static_cast<T>(random() % 64) +
               (random() % 2 == 0 ? T{0} : std::ldexp(T{1}, std::numeric_limits<T>::digits - 1));
      }
    reference::ExactSum products;
    reference::ExactSum weights;
    for (Count i = 0; i < rows; ++i) {
      products.add_product(x[i], w[i]);
      weights.add(w[i]);
    }
    if (weights.sign() == 0 || products.sign() == 0) continue;
    const Result wanted = products.divided_by<Result>(weights);
    const Result found = mean_of<T, Result>(x, w, random);
    EXPECT_EQ(std::bit_cast<BitsOf<Result>>(found), std::bit_cast<BitsOf<Result>>(wanted)) << found << " " << wanted;
    if (testing::Test::HasFailure()) return;
  }
}

TEST(WeightedMeans, AreQuotientsRoundedOnce) {
  expect_reference<double, double>(1);
  expect_reference<float, float>(1001);
  expect_reference<float, double>(2001);
  expect_reference<double, float>(3001);
}

TEST(WeightedMeans, OfWhatIsNoNumberAreDividedAsNumbersAre) {
  std::mt19937_64 random(5);
  const double infinity = std::numeric_limits<double>::infinity();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double values[] = {0.0, -0.0, 1.0, -2.0, infinity, -infinity, nan};
  for (const double x : values)
    for (const double w : values) {
      SCOPED_TRACE(testing::Message() << x << " " << w);
      const double wanted = x * w / w;
      const double found = mean_of<double, double>({x}, {w}, random);
      if (std::isnan(wanted)) {
        EXPECT_EQ(std::bit_cast<std::uint64_t>(found), canonical_nan_of<double>);
      } else {
        EXPECT_EQ(std::bit_cast<std::uint64_t>(found), std::bit_cast<std::uint64_t>(wanted));
      }
    }
  EXPECT_EQ((mean_of<double, double>({2, 1}, {1, -1}, random)), infinity);
  EXPECT_EQ((mean_of<double, double>({-2, -1}, {1, -1}, random)), -infinity);
  EXPECT_TRUE(std::isnan(mean_of<double, double>({1, 1}, {1, -1}, random)));
  EXPECT_TRUE(std::isnan(mean_of<double, double>({1, 1}, {infinity, 2}, random)));
  EXPECT_EQ((mean_of<double, double>({infinity, 1}, {1, 2}, random)), infinity);
  EXPECT_TRUE(std::isnan(mean_of<double, double>({infinity, -infinity}, {1, 2}, random)));
}

/// n P - X Y without rounding: the sums of products, of first and of second numbers.
class Comoment : public reference::ExactSum {
 public:
  template <class T>
  Comoment(const std::vector<T>& x, const std::vector<T>& y) {
    reference::ExactSum first;
    reference::ExactSum second;
    for (std::size_t i = 0; i < x.size(); ++i) {
      add_product(x[i], y[i]);
      first.add(x[i]);
      second.add(y[i]);
    }
    multiply(x.size());
    first.multiply(second);
    merge(first, -1);
  }
};

template <class T, class Result>
Result reference_covariance(const std::vector<T>& x, const std::vector<T>& y, Count ddof) {
  const Comoment both(x, y);
  return both.sign() == 0 ? Result{0} : both.template divided_by<Result>(x.size() * (x.size() - ddof));
}

template <class T, class Result>
Result reference_correlation(const std::vector<T>& x, const std::vector<T>& y) {
  const Comoment both(x, y), of_first(x, x), of_second(y, y);
  if (of_first.sign() == 0 || of_second.sign() == 0) return std::numeric_limits<Result>::quiet_NaN();
  return both.sign() == 0 ? Result{0} : both.template divided_by_root<Result>(of_first, of_second);
}

template <class T, class Result>
void expect_comoments(std::uint64_t first_seed) {
  for (std::uint64_t seed = first_seed; seed < first_seed + 300; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937_64 random(seed);
    const Count rows = 2 + random() % 100;
    std::vector<T> x = wide_values<T>(random, rows);
    std::vector<T> y = wide_values<T>(random, rows);
    if (seed % 4 == 1)
      for (auto* each : {&x, &y}) set_to_any_magnitudes(*each, random);
    if (seed % 4 == 2)  // nearly alike, far from 0: a covariance of doubles would have no digit right
      for (Count i = 0; i < rows; ++i) {
        x[i] = std::ldexp(T{1}, std::numeric_limits<T>::digits - 1) + static_cast<T>(random() % 4);
        y[i] = (seed % 8 == 2 ? 1 : -1) * (x[i] + static_cast<T>(random() % 2));
      }
    if (seed % 4 == 3) y = std::vector<T>(rows, T{3});  // none
    for (const auto& [operation, ddof] : {std::pair(Operation::covariance, 0), {Operation::sample_covariance, 1}}) {
      const auto wanted = reference_covariance<T, Result>(x, y, static_cast<Count>(ddof));
      const auto found = result_of<T, Result>(operation, x, y, random);
      EXPECT_EQ(std::bit_cast<BitsOf<Result>>(found), std::bit_cast<BitsOf<Result>>(wanted)) << found << " " << wanted;
    }
    const auto wanted = reference_correlation<T, Result>(x, y);
    const auto found = result_of<T, Result>(Operation::correlation, x, y, random);
    EXPECT_EQ(std::bit_cast<BitsOf<Result>>(found), std::bit_cast<BitsOf<Result>>(wanted)) << found << " " << wanted;
    if (testing::Test::HasFailure()) return;
  }
}

TEST(Comoments, AreDividedAndRoundedOnce) {
  expect_comoments<double, double>(1);
  expect_comoments<float, float>(1001);
  expect_comoments<float, double>(2001);
  expect_comoments<double, float>(3001);
}

TEST(Correlations, OfAlikeNumbersAreOne) {
  std::mt19937_64 random(6);
  const double largest = std::numeric_limits<double>::max(), least = std::numeric_limits<double>::denorm_min();
  for (const std::vector<double>& x :
       {std::vector{1e9, 1e9 + 1, 1e9 + 3}, {largest, -largest, 1.0}, {least, -least, 0.0}}) {
    std::vector<double> opposite = x;
    for (double& value : opposite) value = -value;
    EXPECT_EQ((result_of<double, double>(Operation::correlation, x, x, random)), 1.0);
    EXPECT_EQ((result_of<double, double>(Operation::correlation, x, opposite, random)), -1.0);
  }
  const double none = result_of<double, double>(Operation::correlation, {1, -1, 1, -1}, {-1, -1, 1, 1}, random);
  EXPECT_EQ(std::bit_cast<std::uint64_t>(none), 0u);
  EXPECT_TRUE(std::isnan(result_of<double, double>(Operation::correlation, {1}, {2}, random)));
}

TEST(Comoments, OfWhatIsNoNumberAreNaN) {
  std::mt19937_64 random(5);
  const double infinity = std::numeric_limits<double>::infinity();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const double hostile : {infinity, -infinity, nan})
    for (const Operation operation : {Operation::covariance, Operation::sample_covariance, Operation::correlation}) {
      const auto first = result_of<double, double>(operation, {1, hostile, 2}, {0, 0, 3}, random);
      const auto second = result_of<double, double>(operation, {1, 5, 2}, {0, 7, hostile}, random);
      EXPECT_EQ(std::bit_cast<std::uint64_t>(first), canonical_nan_of<double>);
      EXPECT_EQ(std::bit_cast<std::uint64_t>(second), canonical_nan_of<double>);
    }
  EXPECT_EQ((result_of<double, double>(Operation::covariance, {1}, {2}, random)), 0.0);
  EXPECT_TRUE(std::isnan(result_of<double, double>(Operation::sample_covariance, {1}, {2}, random)));
}

TEST(WeightedMeans, OfNothingAreEmpty) {
  const auto kind = make_sums_of_pairs(Operation::weighted_mean, Type::f64, Type::f64);
  const Part none = part_of<double>(*kind, {}, {}, 0, 0);
  EXPECT_EQ(finished(*kind, none.record, unknown_count).status, Status::empty);
  EXPECT_EQ(finished(*kind, none.record, 2).status, Status::gap);
}

TEST(WeightedMeans, OfSumsOfOtherRowsAreRefused) {
  const auto kind = make_sums_of_pairs(Operation::weighted_mean, Type::f64, Type::f64);
  const std::vector<double> ones(3, 1.0);
  const Part longer = part_of(*kind, ones, ones, 0, 3);
  const Part shorter = part_of(*kind, ones, ones, 0, 2);
  ASSERT_EQ(longer.record.size(), shorter.record.size());
  Bytes first_bytes = 0;  // behind the header
  std::memcpy(&first_bytes, longer.record.data() + sizeof(Header), sizeof first_bytes);
  const auto second_at = static_cast<std::ptrdiff_t>(sizeof(Header) + sizeof first_bytes + (first_bytes + 7) / 8 * 8);
  Record spliced = longer.record;
  std::copy(shorter.record.begin() + second_at, shorter.record.end(), spliced.begin() + second_at);
  EXPECT_FALSE(same(spliced, longer.record));
  EXPECT_EQ(finished(*kind, longer.record, 3).status, Status::ok);
  EXPECT_EQ(finished(*kind, spliced, 3).status, Status::transport_failed);
}

TEST(WeightedMeans, OfDamagedBytesAreRefused) {
  const auto kind = make_sums_of_pairs(Operation::weighted_mean, Type::f64, Type::f64);
  std::mt19937_64 random(6);
  const Part whole = part_of(*kind, wide_values<double>(random, 50), wide_values<double>(random, 50), 0, 50);
  for (Bytes size = sizeof(Header); size < whole.record.size(); ++size) {
    const Record cut(whole.record.begin(), whole.record.begin() + static_cast<std::ptrdiff_t>(size));
    EXPECT_EQ(finished(*kind, cut, unknown_count).status, Status::transport_failed) << size;
  }
  for (int i = 0; i < 3000; ++i) {
    Record damaged = whole.record;
    for (int j = 0; j < 3; ++j)
      damaged[sizeof(Header) + random() % (damaged.size() - sizeof(Header))] = static_cast<std::byte>(random());
    finished(*kind, damaged, unknown_count);
  }
}

}  // namespace
}  // namespace steadfold::test::sums_of_pairs_test

#endif
