// Statistics against MPFR, which rounds once, and against a search: on hostile data, with masks over NaNs and
// infinities, however rows are split and merged. Seeds are printed.
#include "arithmetic/exact/statistics.hpp"

#include <gtest/gtest.h>

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

namespace steadfold::test::statistics_test {
namespace {

using arithmetic::make_statistics;
using arithmetic::Statistics;
using arithmetic::Type;
using arithmetic::unknown_count;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

template <class T>
struct Data {
  std::vector<T> elements;
  std::vector<std::byte> mask;  // empty: all count

  bool counts(Count i) const { return mask.empty() || mask[i] != std::byte{0}; }
  Block block(Count begin, Count rows) const {
    return {.first = reinterpret_cast<const std::byte*>(elements.data() + begin),
            .mask = mask.empty() ? nullptr : mask.data() + begin,
            .rows = rows,
            .row_stride = sizeof(T)};
  }
};

/// Whether `a` comes before `b` where the least is looked for, or the greatest: NaN, then by value with -0 below +0.
bool before(double a, double b, bool least) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && !std::isnan(b);
  if (a == b) return least ? std::signbit(a) && !std::signbit(b) : !std::signbit(a) && std::signbit(b);
  return least ? a < b : a > b;
}

/// By sums that are never rounded, and one rounding, to Result.
template <class T, class Result = double>
Statistics expected(const Data<T>& data) {
  reference::ExactSum sum;
  reference::ExactSum squares;
  Statistics made{.count = 0, .min = nan, .min_index = ~Index{0}, .max = nan, .max_index = ~Index{0}, .mean = nan};
  made.variance = made.sample_variance = made.deviation = made.sample_deviation = nan;
  bool has_infinity = false;
  for (Count i = 0; i < data.elements.size(); ++i) {
    if (!data.counts(i)) continue;
    const double x = data.elements[i];
    has_infinity = has_infinity || std::isinf(x);
    if (made.count == 0 || before(x, made.min, true)) {
      made.min = x;
      made.min_index = i;
    }
    if (made.count == 0 || before(x, made.max, false)) {
      made.max = x;
      made.max_index = i;
    }
    ++made.count;
    sum.add(x);
    squares.add_product(x, x);
  }
  if (std::isnan(made.min)) made.min = made.max = nan;
  made.min = static_cast<Result>(made.min);
  made.max = static_cast<Result>(made.max);
  if (made.count == 0) return made;
  made.mean = sum.template divided_by<Result>(made.count);
  if (std::isnan(made.min) || has_infinity) return made;
  squares.multiply(made.count);
  sum.square();
  squares.merge(sum, -1);
  const auto set = [&](Count divisor, double& variance, double& deviation) {
    variance = squares.sign() == 0 ? 0.0 : squares.template divided_by<Result>(divisor);
    deviation = squares.sign() == 0 ? 0.0 : squares.template root_divided_by<Result>(divisor);
  };
  set(made.count * made.count, made.variance, made.deviation);
  if (made.count > 1) set(made.count * (made.count - 1), made.sample_variance, made.sample_deviation);
  return made;
}

template <class T>
constexpr Type input = sizeof(T) == 8 ? Type::f64 : Type::f32;

template <class T>
Part part_of(const PartialKind& kind, const Data<T>& data, Count begin, Count end, Count block) {
  const auto builder = kind.builder();
  Part part;
  if (begin < end) part.rows.add({begin, end});
  for (Count at = begin; at < end; at += block) builder->push(at, data.block(at, std::min(block, end - at)));
  part.record = written(kind, *builder, part.rows);
  return part;
}

template <class T>
void expect_reference(const Data<T>& data, std::mt19937_64& random) {
  const auto kind = make_statistics(input<T>, Type::f64);
  const Count rows = data.elements.size();
  const Part whole = part_of(*kind, data, 0, rows, std::max<Count>(rows, 1));
  std::vector<Part> parts;
  for (Count begin = 0, end = 0; begin < rows || parts.empty(); begin = end) {
    end = std::min(rows, begin + 1 + random() % (rows / 2 + 1));
    parts.push_back(part_of(*kind, data, begin, end, 1 + random() % 3000));
  }
  std::shuffle(parts.begin(), parts.end(), random);
  EXPECT_TRUE(same(merged_at_random(*kind, parts, random).record, whole.record)) << "parts are not the whole";
  const Finished found = finished(*kind, whole.record, rows);
  ASSERT_EQ(found.status, Status::ok);
  const Statistics wanted = expected(data);
  EXPECT_TRUE(same(found.values, std::as_bytes(std::span(&wanted, 1))));
  // Records do not depend on the format of the results.
  const Finished narrow = finished(*make_statistics(input<T>, Type::f32), whole.record, rows);
  const Statistics wanted_narrow = expected<T, float>(data);
  EXPECT_TRUE(same(narrow.values, std::as_bytes(std::span(&wanted_narrow, 1))));
  EXPECT_EQ(finished(*kind, whole.record, rows + 1).status, Status::gap);
  if (rows > 0) {
    EXPECT_EQ(finished(*kind, whole.record, rows - 1).status, Status::overlap);
  }
}

/// Elements of all magnitudes, or near each other, or few values: ties, zeros of both signs, and nothing but one value.
template <class T>
Data<T> random_data(std::mt19937_64& random, std::uint64_t seed) {
  Data<T> data;
  const Count rows = random() % (seed % 10 == 0 ? 5000 : 200);
  switch (seed % 5) {
    case 0: data.elements = wide_values<T>(random, rows); break;
    case 4:
      while (data.elements.size() < rows)
        if (const T x = std::bit_cast<T>(static_cast<BitsOf<T>>(random())); std::isfinite(x))
          data.elements.push_back(x);
      break;
    case 1:
      for (Count i = 0; i < rows; ++i) data.elements.push_back(T(1e6) + static_cast<T>(random() % 1000) / 7);
      break;
    case 2:
      for (Count i = 0; i < rows; ++i)
        data.elements.push_back(std::array{T{0}, -T{0}, std::numeric_limits<T>::denorm_min(), T{1}}[random() % 4]);
      break;
    default: data.elements.assign(rows, static_cast<T>(0.1)); break;
  }
  if (seed % 3 != 0) return data;
  for (T& each : data.elements) {
    data.mask.push_back(static_cast<std::byte>(random() % 3));
    const T unread[] = {std::numeric_limits<T>::quiet_NaN(), -std::numeric_limits<T>::infinity(),
                        std::numeric_limits<T>::max(), each};
    if (data.mask.back() == std::byte{0}) each = unread[random() % 4];
  }
  return data;
}

template <class T>
class StatisticsOf : public testing::Test {};
using Numbers = testing::Types<double, float>;
TYPED_TEST_SUITE(StatisticsOf, Numbers);

TYPED_TEST(StatisticsOf, AnythingAreWhatExactSumsRoundTo) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937_64 random(seed);
    expect_reference(random_data<TypeParam>(random, seed), random);
    if (testing::Test::HasFailure()) return;
  }
}

/// Sums of the most digits there are: the largest squares beside the smallest.
TYPED_TEST(StatisticsOf, ExtremesOverflowToInfinityOnly) {
  using T = TypeParam;
  using Limits = std::numeric_limits<T>;
  std::mt19937_64 random(7);
  expect_reference(Data<T>{{Limits::max(), -Limits::max(), Limits::denorm_min()}, {}}, random);
  expect_reference(Data<T>{{Limits::max(), Limits::max(), Limits::denorm_min()}, {}}, random);
  expect_reference(Data<T>{std::vector<T>(9, Limits::max()), {}}, random);
  expect_reference(Data<T>{{Limits::denorm_min(), T{0}}, {}}, random);
  expect_reference(Data<T>{{-T{0}}, {}}, random);
  // Sums that are one bit, at the lower end of a digit, below 0 and above.
  for (int exponent = std::numeric_limits<T>::min_exponent; exponent < 40; ++exponent)
    for (const T sign : {T{1}, T{-1}}) expect_reference(Data<T>{{std::ldexp(sign, exponent), T{0}, T{0}}, {}}, random);
}

TYPED_TEST(StatisticsOf, WhatIsNoNumberIsSaidSo) {
  using T = TypeParam;
  using Limits = std::numeric_limits<T>;
  std::mt19937_64 random(8);
  const T infinity = Limits::infinity();
  expect_reference(Data<T>{{T{1}, -Limits::quiet_NaN(), T{-2}, Limits::signaling_NaN()}, {}}, random);
  expect_reference(Data<T>{{T{1}, infinity, T{-2}}, {}}, random);
  expect_reference(Data<T>{{infinity, infinity}, {}}, random);
  expect_reference(Data<T>{{T{1}, infinity, -infinity}, {}}, random);
  expect_reference(Data<T>{{}, {}}, random);
  expect_reference(Data<T>{{T{1}, T{2}}, {std::byte{0}, std::byte{0}}}, random);
  expect_reference(Data<T>{{T{1}, Limits::quiet_NaN()}, {std::byte{1}, std::byte{0}}}, random);
  // What loses against everything, and is all there is.
  expect_reference(Data<T>{{T{1}, infinity, infinity}, {std::byte{0}, std::byte{0}, std::byte{1}}}, random);
  expect_reference(Data<T>{{T{1}, -infinity, -infinity}, {std::byte{0}, std::byte{0}, std::byte{1}}}, random);
}

/// The usual formulas, in doubles, do not come to these bits: the test could tell.
TEST(StatisticsOfDoubles, AreNotThoseOfRoundedSums) {
  std::mt19937_64 random(9);
  const Data<double> data = random_data<double>(random, 1);
  double sum = 0;
  double squares = 0;
  for (const double x : data.elements) {
    sum += x;
    squares += x * x;
  }
  const auto n = static_cast<double>(data.elements.size());
  EXPECT_NE((squares - sum * sum / n) / n, expected(data).variance);
}

/// The variance is a little above 0x1.001fe1p+0. This is the nearest double, and the middle between two floats, of
/// which the lower one is even.
TEST(StatisticsOfFloats, AreRoundedOnce) {
  const Data<float> data{{0x1.000ffp+1F, -0x1.fee032p-32F}, {}};
  const auto kind = make_statistics(Type::f32, Type::f32);
  const Finished found = finished(*kind, part_of(*kind, data, 0, 2, 2).record, 2);
  Statistics narrow{};
  std::memcpy(&narrow, found.values.data(), sizeof narrow);
  EXPECT_EQ(narrow.variance, 0x1.001fe2p+0);
  EXPECT_NE(static_cast<float>(expected(data).variance), 0x1.001fe2p+0F) << "or this shows nothing";
}

TEST(StatisticsRecords, ThatNobodyWroteAreRefused) {
  const auto kind = make_statistics(Type::f64, Type::f64);
  std::mt19937_64 random(10);
  const Data<double> data{wide_values<double>(random, 50), {}};
  const Part whole = part_of(*kind, data, 0, 50, 50);
  for (Bytes size = sizeof(Header); size < whole.record.size(); ++size) {
    const Record cut(whole.record.begin(), whole.record.begin() + static_cast<std::ptrdiff_t>(size));
    EXPECT_EQ(finished(*kind, cut, unknown_count).status, Status::transport_failed) << size;
    EXPECT_EQ(status_of(merged(*kind, {cut, {}}, {whole.record, {}}).record), Status::transport_failed) << size;
  }
  for (int i = 0; i < 3000; ++i) {  // anything may come of damaged bytes but a crash
    Record damaged = whole.record;
    for (int j = 0; j < 3; ++j)
      damaged[sizeof(Header) + random() % (damaged.size() - sizeof(Header))] = static_cast<std::byte>(random());
    finished(*kind, damaged, unknown_count);
    merged(*kind, {damaged, {}}, {whole.record, {}});
  }
}

}  // namespace
}  // namespace steadfold::test::statistics_test

#endif
