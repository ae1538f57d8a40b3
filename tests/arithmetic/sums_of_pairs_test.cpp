// Weighted means against MPFR, which divides and rounds once, on hostile data, however rows are split and merged; and
// what is no number as IEEE 754 divides it. Seeds are printed.
#include "arithmetic/sums_of_pairs.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "arithmetic/ieee.hpp"
#include "arithmetic/records.hpp"
#ifdef STEADFOLD_HAVE_MPFR
#include "arithmetic/mpfr.hpp"

namespace steadfold::test::sums_of_pairs_test {
namespace {

using arithmetic::ExactType;
using arithmetic::make_sums_of_pairs;
using arithmetic::Operation;
using arithmetic::unknown_count;

template <class T>
constexpr ExactType exact_type = sizeof(T) == 8 ? ExactType::f64 : ExactType::f32;

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
Result mean_of(const std::vector<T>& x, const std::vector<T>& w, std::mt19937_64& random) {
  const auto kind = make_sums_of_pairs(Operation::weighted_mean, exact_type<T>, exact_type<Result>);
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
void expect_reference(std::uint64_t first_seed) {
  for (std::uint64_t seed = first_seed; seed < first_seed + 300; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937_64 random(seed);
    const Count rows = 1 + random() % 100;
    std::vector<T> x = wide_values<T>(random, rows);
    std::vector<T> w = wide_values<T>(random, rows);
    if (seed % 4 == 1)  // any magnitudes
      for (auto* each : {&x, &w})
        for (T& value : *each)
          while (!std::isfinite(value = std::bit_cast<T>(static_cast<BitsOf<T>>(random())))) continue;
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

TEST(WeightedMeans, OfNothingAreEmpty) {
  const auto kind = make_sums_of_pairs(Operation::weighted_mean, ExactType::f64, ExactType::f64);
  const Part none = part_of<double>(*kind, {}, {}, 0, 0);
  EXPECT_EQ(finished(*kind, none.record, unknown_count).status, Status::empty);
  EXPECT_EQ(finished(*kind, none.record, 2).status, Status::gap);
}

TEST(WeightedMeans, OfDamagedBytesAreRefused) {
  const auto kind = make_sums_of_pairs(Operation::weighted_mean, ExactType::f64, ExactType::f64);
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
