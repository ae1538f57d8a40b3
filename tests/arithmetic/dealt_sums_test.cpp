// Sums of rows that labels deal to columns, and results of several sums: every column has the bits of the kind of one
// column with the same rows, in one piece and merged from parts, and equal rows give equal records. Seeds are printed.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <random>
#include <vector>

#include "arithmetic/binned/binned.hpp"
#include "arithmetic/exact/dealt_forms.hpp"
#include "arithmetic/exact/exact.hpp"
#include "arithmetic/exact/statistics.hpp"
#include "arithmetic/exact/sums_of_pairs.hpp"
#include "arithmetic/records.hpp"
#include "support/hostile_terms.hpp"
#include "support/sanitized.hpp"

namespace steadfold::test::dealt_sums_test {
namespace {

using arithmetic::Operation;
using Kind = std::unique_ptr<PartialKind>;
constexpr auto no_column = arithmetic::ColumnBuilders::no_column;

template <class T>
constexpr arithmetic::Type exact_type = std::is_same_v<T, float> ? arithmetic::Type::f32 : arithmetic::Type::f64;

/// Rows that are dealt, and the kinds of their results. `bins`: 0 for exact sums. `weights`: empty for plain sums.
template <class T, class Result>
struct Dealt {
  Count columns;
  int bins;
  std::vector<std::uint32_t> column_of;
  std::vector<T> elements;
  std::vector<T> weights = {};
  Operation form = Operation::sum;  // or an operation whose results are made of several sums

  Operation operation() const { return form == Operation::sum && !weights.empty() ? Operation::dot : form; }
  Kind kind() const {
    if (form != Operation::sum) return arithmetic::make_form_of_dealt(form, exact_type<T>, exact_type<Result>, columns);
    return bins == 0 ? arithmetic::make_exact_of_dealt(operation(), exact_type<T>, exact_type<Result>, columns)
                     : arithmetic::make_binned_of_dealt(operation(), type_of<T>, type_of<Result>, bins, columns);
  }
  Kind kind_of_one() const {
    using arithmetic::Sweep;
    if (form == Operation::statistics) return arithmetic::make_statistics(exact_type<T>, exact_type<Result>);
    if (arithmetic::has_several_sums(form))
      return arithmetic::make_sums_of_pairs(form, exact_type<T>, exact_type<Result>);
    return bins == 0 ? arithmetic::make_exact(operation(), exact_type<T>, exact_type<Result>, 1)
                     : arithmetic::make_binned(operation(), type_of<T>, type_of<Result>, bins, Sweep::single_sweep, 1);
  }
  /// The results of the kind of one column, which gets its rows with their indices.
  Record expected() const {
    std::vector<std::vector<std::size_t>> rows(columns);
    for (std::size_t i = 0; i < elements.size(); ++i)
      if (column_of[i] != no_column) rows[column_of[i]].push_back(i);
    const Kind one = kind_of_one();
    const auto builder = one->builder();
    Record all;
    for (const std::vector<std::size_t>& of_column : rows) {
      builder->clear();
      for (const std::size_t i : of_column)
        builder->push(i, {.first = reinterpret_cast<const std::byte*>(&elements[i]),
                          .second = weights.empty() ? nullptr : reinterpret_cast<const std::byte*>(&weights[i]),
                          .rows = 1,
                          .row_stride = sizeof(T)});
      Finished found = finished(*one, written(*one, *builder, IntervalSet(Interval{0, of_column.size()})));
      if (found.status == Status::empty) {
        const auto nan = std::numeric_limits<Result>::quiet_NaN();
        std::memcpy(found.values.data(), &nan, sizeof nan);
      }
      all.insert(all.end(), found.values.begin(), found.values.end());
    }
    return all;
  }
  void push(Builder& builder, std::size_t begin, std::size_t end) const {
    builder.columns()->deal(end - begin, Status::ok);
    builder.columns()->scatter(std::span(column_of).subspan(begin, end - begin), begin,
                               reinterpret_cast<const std::byte*>(elements.data() + begin),
                               weights.empty() ? nullptr : reinterpret_cast<const std::byte*>(weights.data() + begin));
  }
  Part part(const PartialKind& its_kind, Builder& builder, std::size_t begin, std::size_t end) const {
    Part part{.record = {}, .rows = IntervalSet(Interval{begin, end})};
    builder.clear();
    push(builder, begin, end);
    part.record = written(its_kind, builder, part.rows);
    return part;
  }
};

template <class T, class Result>
void expect_sums(const Dealt<T, Result>& dealt, std::mt19937_64& random) {
  const Kind kind = dealt.kind();
  const auto builder = kind->builder();
  const Record expected = dealt.expected();
  const std::size_t rows = dealt.elements.size();
  const Part whole = dealt.part(*kind, *builder, 0, rows);
  EXPECT_TRUE(same(finished(*kind, whole.record, rows).values, expected)) << "by a record";
  EXPECT_EQ(finished(*kind, whole.record, rows + 1).status, Status::gap);
  builder->clear();  // discards accumulators, too
  dealt.push(*builder, 0, rows / 3);
  dealt.push(*builder, rows / 3, rows);
  if (builder->finishes_alone()) {
    Guarded values(kind->value_bytes());
    EXPECT_EQ(builder->finish_alone(rows, values.data(), nullptr), Status::ok);
    EXPECT_TRUE(same(values.taken(kind->value_bytes()), expected)) << "without a record";
  }
  std::vector<Part> parts;
  for (std::size_t begin = 0, end = 0; begin < rows; begin = end) {
    end = begin + 1 + random() % std::max<std::size_t>(rows / 3, 1);
    parts.push_back(dealt.part(*kind, *builder, begin, std::min(end, rows)));
  }
  if (parts.empty()) return;
  const Part merged = merged_at_random(*kind, std::move(parts), random);
  EXPECT_TRUE(same(merged.record, whole.record)) << "merged";
  EXPECT_TRUE(same(finished(*kind, merged.record, rows).values, expected)) << "merged";
}

/// All equal, ascending, a different column for each row, or random. Some rows have no column.
std::vector<std::uint32_t> columns_of_rows(std::size_t rows, Count columns, std::mt19937_64& random) {
  std::vector<std::uint32_t> found(rows);
  const std::uint64_t form = random() % 4;
  const std::uint64_t first = random();
  for (std::size_t i = 0; i < rows; ++i)
    found[i] = static_cast<std::uint32_t>((form == 0   ? first
                                           : form == 1 ? i * columns / rows
                                           : form == 2 ? i
                                                       : random()) %
                                          columns);
  if (random() % 2 == 0)
    for (std::uint32_t& each : found)
      if (random() % 8 == 0) each = no_column;
  return found;
}

template <class T, class Result>
void expect_hostile(std::uint64_t seed, Operation form) {
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937_64 random(seed);
  constexpr Count counts[] = {1, 2, 7, 8, 9, 64, 1000};
  Dealt<T, Result> dealt{.columns = counts[random() % std::size(counts)], .bins = static_cast<int>(random() % 4)};
  if (dealt.bins == 1 || form != Operation::sum) dealt.bins = 0;
  const std::size_t rows = random() % (random() % 4 == 0 ? 4000 : 200);
  dealt.column_of = columns_of_rows(rows, dealt.columns, random);
  dealt.elements.resize(rows);
  HostileTerms<T> terms(seed);
  const auto of_some = [&](Trouble trouble) { return terms.of(rows, trouble); };
  const std::vector<T> sources[] = {of_some(troubles[random() % std::size(troubles)]),
                                    of_some(troubles[random() % std::size(troubles)])};
  const bool is_mixed = random() % 2 == 0;  // two kinds of trouble meet in a column
  for (std::size_t i = 0; i < rows; ++i) dealt.elements[i] = sources[is_mixed ? random() % 2 : 0][i];
  if (seed / 4 % 2 == 0 || arithmetic::has_factors(form))
    dealt.weights = of_some(troubles[random() % std::size(troubles)]);
  if (form == Operation::mean || form == Operation::statistics) dealt.weights.clear();
  dealt.form = form;
  expect_sums(dealt, random);
}

void expect_hostile_of_all_types(Operation form, std::uint64_t seeds) {
  for (std::uint64_t seed = 1; seed <= seeds && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(testing::Message() << "operation " << static_cast<int>(form));
    switch (seed % 4) {
      case 0: expect_hostile<float, float>(seed, form); break;
      case 1: expect_hostile<float, double>(seed, form); break;
      case 2: expect_hostile<double, float>(seed, form); break;
      default: expect_hostile<double, double>(seed, form);
    }
  }
}

TEST(DealtSums, AreThoseOfTheirRowsGathered) { expect_hostile_of_all_types(Operation::sum, sanitized ? 400 : 1600); }

TEST(DealtForms, AreThoseOfTheirRowsGathered) {
  for (const Operation form : {Operation::mean, Operation::weighted_mean, Operation::covariance,
                               Operation::sample_covariance, Operation::correlation, Operation::statistics})
    expect_hostile_of_all_types(form, sanitized ? 80 : 400);
}

/// Bits at both ends of the two words that a column begins with, and just beyond them.
TEST(DealtSums, OutgrowTwoWords) {
  for (std::uint64_t seed = 1; seed <= 300 && !HasFailure(); ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937_64 random(seed);
    Dealt<double, double> dealt{.columns = 3, .bins = 0};
    const int width = 60 + static_cast<int>(random() % 80);
    const int lowest = -1074 + static_cast<int>(random() % 2 == 0 ? random() % 60 : random() % 1900);
    for (int i = 0; i < 64; ++i) {
      const int exponent = random() % 2 == 0 ? lowest + width : lowest + static_cast<int>(random() % 30);
      const double sign = random() % 3 == 0 ? -1 : 1;
      dealt.elements.push_back(sign * std::ldexp(1 + static_cast<double>(random() % 4) / 4, std::min(exponent, 1020)));
      dealt.column_of.push_back(static_cast<std::uint32_t>(random() % 3));
    }
    expect_sums(dealt, random);
  }
}

/// More terms than are kept: accumulators take them, for some columns several times.
TEST(DealtSums, PutManyTermsAside) {
  std::mt19937_64 random(1);
  Dealt<double, double> dealt{.columns = 2100, .bins = 0};
  dealt.elements = HostileTerms<double>(1).of(1'200'000, Trouble::far);
  for (std::size_t i = 0; i < dealt.elements.size(); ++i)
    dealt.column_of.push_back(static_cast<std::uint32_t>(i % 1000 == 0 ? random() % 2100 : random() % 200));
  expect_sums(dealt, random);
}

/// Sums close to the middle between two doubles, or to a double that ends a binade. Terms far below, which are set
/// aside, decide to which side they are rounded: few terms, or so many that their number counts.
TEST(DealtSums, DependOnTermsSetAside) {
  for (std::uint64_t seed = 1; seed <= 400 && !HasFailure(); ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937_64 random(seed);
    const bool are_many = seed % 40 == 0;
    Dealt<double, double> dealt{.columns = seed % 20 == 1 ? 2100U : 3U, .bins = 0};
    const double scale = std::ldexp(random() % 2 == 0 ? 1 : -1, random() % 3 == 0 ? 990 : 3);
    const auto add = [&](double term) {
      dealt.elements.push_back(term * scale);
      dealt.column_of.push_back(static_cast<std::uint32_t>(dealt.columns - 1));
    };
    add(0x1p-500);  // set aside first, so that the unit is then as high as it can be
    add(random() % 2 == 0 ? 1 : 1 + 0x1p-52);
    if (random() % 3 > 0) add(random() % 2 == 0 ? 0x1p-53 : -0x1p-54);
    const double sign = random() % 2 == 0 ? 1 : -1;
    if (are_many) add(-sign * 0x1p-60);
    for (int i = are_many ? 3000 : static_cast<int>(random() % 4); i > 0; --i)
      add(sign * std::ldexp(1 + static_cast<double>(random() % 8) / 8,
                            are_many ? -71 : -60 - static_cast<int>(random() % 300)));
    expect_sums(dealt, random);
  }
}

/// Larger and larger terms, and terms of equal size whose sum outgrows the integer: its low bits are set aside.
TEST(DealtSums, Grow) {
  for (std::uint64_t seed = 1; seed <= 300 && !HasFailure(); ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937_64 random(seed);
    Dealt<double, double> dealt{.columns = seed % 20 == 1 ? 2100U : 2U, .bins = 0};
    const int step = static_cast<int>(random() % 130);
    int exponent = -1074 + static_cast<int>(random() % 2100);
    for (int i = 0; i < 40; ++i, exponent += static_cast<int>(random() % 4 == 0 ? 0 : step)) {
      const double sign = random() % 3 == 0 ? -1 : 1;
      const double mantissa = 1 + static_cast<double>(random() >> 12) * 0x1p-52;
      dealt.elements.push_back(sign * std::ldexp(mantissa, std::clamp(exponent, -1074, 1017)));
      dealt.column_of.push_back(static_cast<std::uint32_t>(random() % 2));
    }
    expect_sums(dealt, random);
  }
}

/// Columns whose states do not stay in the cache are taken range by range, and what an earlier round left is gone.
TEST(DealtSums, OfManyColumns) {
  constexpr std::size_t terms = sanitized ? 150'000 : 500'000;
  std::mt19937_64 random(1);
  for (const int bins : {0, 3}) {
    Dealt<double, double> dealt{.columns = 140'000, .bins = bins};
    dealt.elements = HostileTerms<double>(1).of(terms, Trouble::far);
    if (bins == 0) dealt.weights = HostileTerms<double>(2).of(terms, Trouble::near);
    for (std::size_t i = 0; i < dealt.elements.size(); ++i)
      dealt.column_of.push_back(i % 9 == 0 ? no_column : static_cast<std::uint32_t>(random() % dealt.columns));
    const Record expected = dealt.expected();
    const Kind kind = dealt.kind();
    const auto builder = kind->builder();
    const auto push_all = [&] {
      constexpr std::size_t piece = 50'000;
      for (std::size_t begin = 0; begin < dealt.elements.size(); begin += piece)
        dealt.push(*builder, begin, begin + piece);
    };
    push_all();
    builder->clear();
    push_all();
    Guarded values(kind->value_bytes());
    EXPECT_EQ(builder->finish_alone(dealt.elements.size(), values.data(), nullptr), Status::ok);
    EXPECT_TRUE(values.taken(kind->value_bytes()) == expected);
    const Part whole = dealt.part(*kind, *builder, 0, dealt.elements.size());
    EXPECT_TRUE(finished(*kind, whole.record).values == expected);
  }
}

/// The sums of products lie close to the middle between two doubles. The low words of products decide, or bits that
/// only the two words together have.
TEST(DealtSums, DependOnLowWordsOfProducts) {
  for (std::uint64_t seed = 1; seed <= 400 && !HasFailure(); ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937_64 random(seed);
    Dealt<double, double> dealt{.columns = 2, .bins = 0};
    const int scale = random() % 3 == 0 ? static_cast<int>(random() % 500) - 550 : 3;
    const auto add = [&](double x, double weight) {
      dealt.elements.push_back(std::ldexp(x, scale));
      dealt.weights.push_back(std::ldexp(weight, scale));
      dealt.column_of.push_back(1);
    };
    const double sign = random() % 2 == 0 ? 1 : -1;
    add(1 + 0x1p-52, 1 + 0x1p-52 * static_cast<double>(random() % 4));  // the lowest bit is that of 2^-104
    add(sign, random() % 2 == 0 ? 0x1p-53 : 0x1p-54);
    if (random() % 2 == 0) add(-sign, 0x1p-104);
    if (random() % 2 == 0) add(1 - 0x1p-53, sign * (1 - 0x1p-53));
    if (random() % 4 == 0) add(sign, std::ldexp(1.0, -200 - static_cast<int>(random() % 200)));
    expect_sums(dealt, random);
  }
}

/// Bytes per group of data within 40 binades.
TEST(DealtSums, HaveShortRecords) {
  std::mt19937_64 random(1);
  for (const int bins : {0, 3}) {
    Dealt<double, double> dealt{.columns = 1000, .bins = bins};
    for (int i = 0; i < 20'000; ++i) {
      const double mantissa = static_cast<double>(random() >> 11) * 0x1p-53;
      dealt.elements.push_back(std::ldexp(random() % 2 == 0 ? mantissa : -mantissa, static_cast<int>(random() % 40)));
      dealt.column_of.push_back(static_cast<std::uint32_t>(random() % dealt.columns));
    }
    const Kind kind = dealt.kind();
    const Part whole = dealt.part(*kind, *kind->builder(), 0, dealt.elements.size());
    EXPECT_LE(whole.record.size(), 24 + 26 * dealt.columns);
  }
}

/// The largest slices there are: words are carried every 2^22 terms.
TEST(DealtSums, CarryFullBins) {
  std::mt19937_64 random(1);
  Dealt<float, double> dealt{.columns = 2, .bins = 2};
  const float of_largest_share = std::nextafter(std::ldexp(1.0F, 85), 0.0F);  // bin 28 ends there
  dealt.elements.assign((std::size_t{1} << 24) + 7, of_largest_share);
  dealt.column_of.assign(dealt.elements.size(), 1);
  dealt.elements.back() = std::ldexp(1.0F, 100);
  dealt.column_of[5] = 0;
  const Kind kind = dealt.kind();
  const auto builder = kind->builder();
  builder->clear();
  constexpr std::size_t piece = 1 << 16;
  for (std::size_t begin = 0; begin < dealt.elements.size(); begin += piece)
    dealt.push(*builder, begin, std::min(begin + piece, dealt.elements.size()));
  const Record record = written(*kind, *builder, IntervalSet(Interval{0, dealt.elements.size()}));
  EXPECT_TRUE(same(finished(*kind, record).values, dealt.expected()));
  Guarded values(kind->value_bytes());
  EXPECT_EQ(builder->finish_alone(arithmetic::unknown_count, values.data(), nullptr), Status::ok);
  EXPECT_TRUE(same(values.taken(kind->value_bytes()), dealt.expected()));
}

/// What exact sums are for: the same data in another order have other sums, if a loop adds them.
TEST(DealtSums, ControlALoopDiffers) {
  std::vector<double> x = HostileTerms<double>(7).of(1000, Trouble::nearly_cancel);
  double forward = 0;
  double backward = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    forward += x[i];
    backward += x[x.size() - 1 - i];
  }
  EXPECT_NE(forward, backward);
}

TEST(DealtSums, RefuseRowsWithoutColumns) {
  using arithmetic::Type;
  const Kind kind = arithmetic::make_exact_of_dealt(arithmetic::Operation::sum, Type::f64, Type::f64, 4);
  const std::vector<double> row(4, 1.0);
  EXPECT_EQ(status_of(built(*kind, table_of(row, 0, 4), {{0, 1}}).record), Status::invalid_argument);
}

/// The last word of a partial of means is the number of elements of the last column, at most the number of all rows.
TEST(DealtForms, RefuseDamagedRecords) {
  const Dealt<double, double> dealt{
      .columns = 2, .bins = 0, .column_of = {0, 1, 1}, .elements = {1, 2, 4}, .form = Operation::mean};
  const Kind kind = dealt.kind();
  const auto builder = kind->builder();
  const Part sound = dealt.part(*kind, *builder, 0, 3);
  EXPECT_EQ(value_at<double>(finished(*kind, sound.record).values, 1), 3);
  Record damaged = sound.record;
  damaged[damaged.size() - 8] = std::byte{4};
  EXPECT_EQ(finished(*kind, damaged).status, Status::transport_failed) << "4 elements of 3 rows";
  damaged = sound.record;
  damaged.pop_back();
  EXPECT_EQ(finished(*kind, damaged).status, Status::transport_failed) << "a tally too few";
}

TEST(DealtForms, RefuseRowsWithoutColumns) {
  const Kind kind =
      arithmetic::make_form_of_dealt(Operation::statistics, arithmetic::Type::f64, arithmetic::Type::f64, 4);
  const std::vector<double> row(4, 1.0);
  EXPECT_EQ(status_of(built(*kind, table_of(row, 0, 4), {{0, 1}}).record), Status::invalid_argument);
}

}  // namespace
}  // namespace steadfold::test::dealt_sums_test
