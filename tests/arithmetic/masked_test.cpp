// Masked partials: their values are those of the selected rows by themselves, whatever the others hold, however rows
// are split and merged; all rows count when they are counted. Seeds are printed.
#include "arithmetic/rows/masked.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "arithmetic/binned/binned.hpp"
#include "arithmetic/exact/exact.hpp"
#include "arithmetic/ieee.hpp"
#ifdef STEADFOLD_HAVE_MPFR
#include "arithmetic/mpfr.hpp"
#endif
#include "arithmetic/plain.hpp"
#include "arithmetic/records.hpp"

namespace steadfold::test::masked_test {
namespace {

using arithmetic::make_masked;
using arithmetic::Operation;
using arithmetic::Type;

/// Rows and their mask, `columns` of T; what is left out is NaN, infinite or anything.
template <class T>
struct Masked {
  Count columns = 1;
  std::vector<T> elements;
  std::vector<std::byte> mask;

  Count rows() const { return mask.size(); }
  Block block(Count begin, Count count) const {
    return {.first = reinterpret_cast<const std::byte*>(elements.data() + begin * columns),
            .mask = mask.data() + begin,
            .rows = count,
            .row_stride = columns * sizeof(T)};
  }
  std::vector<T> selected() const {
    std::vector<T> found;
    for (Count i = 0; i < elements.size(); ++i)
      if (mask[i / columns] != std::byte{0}) found.push_back(elements[i]);
    return found;
  }
};

/// `density` in eighths of the rows are selected.
template <class T>
Masked<T> masked_data(std::mt19937_64& random, Count rows, Count columns, Count density) {
  Masked<T> data{.columns = columns, .elements = {}, .mask = std::vector<std::byte>(rows)};
  for (std::byte& byte : data.mask)
    if (random() % 8 < density) byte = static_cast<std::byte>(1U << random() % 8);
  if constexpr (std::is_floating_point_v<T>)
    data.elements = wide_values<T>(random, rows * columns);
  else
    for (Count i = 0; i < rows * columns; ++i) data.elements.push_back(static_cast<T>(random()));
  if constexpr (std::is_floating_point_v<T>)
    for (Count i = 0; i < rows * columns; ++i)
      if (data.mask[i / columns] == std::byte{0} && random() % 2 == 0)
        data.elements[i] =
            random() % 2 == 0 ? std::numeric_limits<T>::quiet_NaN() : -std::numeric_limits<T>::infinity();
  return data;
}

/// `surveyed`: what a first sweep found out, if there was one.
template <class T>
Record record_of(const PartialKind& kind, const Masked<T>& data, Count begin, Count end, Count block,
                 const Record& surveyed = {}) {
  const auto builder = kind.builder();
  if (!surveyed.empty()) {
    builder->surveyor()->expect(surveyed);
    builder->clear();
  }
  for (; begin < end; begin += block) builder->push(begin, data.block(begin, std::min(block, end - begin)));
  return written(kind, *builder, {});
}

/// Split at random, merged at random, and, where there are words, added up as words.
template <class T>
void expect_parts_to_be_whole(const PartialKind& kind, const Masked<T>& data, std::mt19937_64& random) {
  const Record whole = record_of(kind, data, 0, data.rows(), std::max<Count>(data.rows(), 1));
  Record surveyed(kind.survey_bytes());
  if (!surveyed.empty()) {
    const auto builder = kind.builder();
    builder->surveyor()->survey(0, data.block(0, data.rows()));
    builder->surveyor()->write_survey(surveyed);
  }
  std::vector<Part> parts;
  for (Count begin = 0, end = 0; begin < data.rows() || parts.empty(); begin = end) {
    end = std::min(data.rows(), begin + 1 + random() % (data.rows() / 2 + 1));
    parts.push_back({.record = record_of(kind, data, begin, end, 1 + random() % 400, surveyed), .rows = {}});
  }
  if (kind.added_words() != nullptr) {
    std::vector<std::int64_t> sums(kind.added_words()->word_count());
    for (const Part& part : parts) {
      std::vector<std::int64_t> words(kind.added_words()->word_count());
      kind.added_words()->to_words(part.record, words);
      std::ranges::transform(sums, words, sums.begin(), std::plus());
    }
    Guarded out(kind.capacity({}));
    EXPECT_TRUE(
        same(out.taken(kind.added_words()->from_words(sums, static_cast<std::uint32_t>(parts.size()), 0, out.room())),
             whole));
  }
  std::shuffle(parts.begin(), parts.end(), random);
  EXPECT_TRUE(same(merged_at_random(kind, parts, random).record, whole));
}

enum class Merging { any_order, one_order };

/// Against the kind itself, given the selected rows alone.
template <class T, Merging merging = Merging::any_order, class MakeKind>
void expect_selected_alone(const MakeKind& make_kind) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    std::mt19937_64 random(seed);
    const Count columns = seed % 3 == 0 ? 3 : 1;
    const auto data = masked_data<T>(random, random() % (seed % 10 == 0 ? 6000 : 300), columns, seed % 9);
    SCOPED_TRACE(testing::Message() << "seed " << seed << ", " << data.rows() << " rows");
    const auto kind = make_masked(make_kind(columns), sizeof(T), columns);
    const auto alone = make_kind(columns);
    const Table table = table_of(data.selected(), 0, columns);
    const Record expected = built(*alone, table, {{0, table.rows}}).record;
    const Record record = record_of(*kind, data, 0, data.rows(), 1000);
    const Finished found = finished(*kind, record, data.rows());
    EXPECT_EQ(found.status, Status::ok);
    EXPECT_TRUE(same(found.values, finished(*alone, expected).values));
    EXPECT_EQ(finished(*kind, record, data.rows() + 1).status, Status::gap);
    if (data.rows() > 0) {
      EXPECT_EQ(finished(*kind, record, data.rows() - 1).status, Status::overlap);
    }
    if (merging == Merging::any_order) expect_parts_to_be_whole(*kind, data, random);
    if (testing::Test::HasFailure()) return;
  }
}

std::unique_ptr<PartialKind> exact_doubles(Count columns) {
  using namespace arithmetic;
  return make_exact(Operation::sum, Type::f64, Type::f64, columns);
}

TEST(Masked, ExactSumsAreThoseOfWhatIsSelected) {
  using namespace arithmetic;
  expect_selected_alone<double>(exact_doubles);
  expect_selected_alone<float>([](Count columns) { return make_exact(Operation::sum, Type::f32, Type::f64, columns); });
}

TEST(Masked, BinnedSumsToo) {
  for (const auto sweep : {arithmetic::Sweep::single_sweep, arithmetic::Sweep::double_sweep})
    expect_selected_alone<double>([sweep](Count columns) {
      return arithmetic::make_binned(Operation::sum, Type::f64, Type::f64, 2, sweep, columns);
    });
}

TEST(Masked, PlainPartialsToo) {
  expect_selected_alone<std::int16_t, Merging::one_order>([](Count columns) {  // two bytes, combined as something else
    static const auto first = [](const void* left, const void*, void* result, std::size_t count, void*) {
      std::memmove(result, left, 2 * count);
      return 0;
    };
    static const arithmetic::Operator op{
        .apply = first, .element_bytes = 2, .of_nothing = [](void* values, std::size_t n) {
          std::memset(values, 0, 2 * n);
        }};
    return arithmetic::make_plain(op, columns);
  });
  expect_selected_alone<std::int64_t>(
      [](Count columns) { return arithmetic::make_plain(arithmetic::built_in(Operation::sum, Type::i64), columns); });
}

#ifdef STEADFOLD_HAVE_MPFR
TEST(Masked, ExactSumsAreThoseOfMpfr) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    std::mt19937_64 random(seed);
    const auto data = masked_data<double>(random, random() % 5000, 1, seed % 9);
    reference::ExactSum sum;
    for (const double x : data.selected()) sum.add(x);
    const auto kind = make_masked(exact_doubles(1), sizeof(double), 1);
    const Finished found = finished(*kind, record_of(*kind, data, 0, data.rows(), 777), data.rows());
    ASSERT_EQ(bits_of(value_at<double>(found.values)), bits_of(sum.rounded<double>())) << "seed " << seed;
  }
}
#endif

/// Columns of a wider row: the mask is that of the rows, whichever columns are taken.
TEST(Masked, RowsMayStandApart) {
  std::mt19937_64 random(5);
  const auto data = masked_data<double>(random, 900, 5, 4);
  const auto kind = make_masked(exact_doubles(2), sizeof(double), 2);
  Masked<double> two{.columns = 2, .elements = {}, .mask = data.mask};
  for (Count i = 0; i < data.rows(); ++i)
    for (Count column : {3U, 4U}) two.elements.push_back(data.elements[5 * i + column]);
  const auto builder = kind->builder();
  Block block = data.block(0, data.rows());
  block.first += 3 * sizeof(double);
  builder->push(0, block);
  EXPECT_TRUE(same(written(*kind, *builder, {}), record_of(*kind, two, 0, two.rows(), 900)));
}

TEST(Masked, AZeroHasTheSignOfWhatIsSelected) {
  const auto kind = make_masked(exact_doubles(1), sizeof(double), 1);
  const auto sum = [&](std::vector<double> x, std::vector<std::byte> mask) {
    const Masked<double> data{.columns = 1, .elements = std::move(x), .mask = std::move(mask)};
    return bits_of(value_at<double>(finished(*kind, record_of(*kind, data, 0, data.rows(), 1)).values));
  };
  constexpr std::byte in{1};
  constexpr std::byte out{0};
  EXPECT_EQ(sum({}, {}), bits_of(0.0));
  EXPECT_EQ(sum({-0.0, 1}, {out, out}), bits_of(0.0));
  EXPECT_EQ(sum({-0.0, 0.0}, {in, out}), bits_of(-0.0));
  EXPECT_EQ(sum({0.0, -0.0, -0.0}, {out, in, in}), bits_of(-0.0));
  EXPECT_EQ(sum({-0.0, 0.0}, {in, in}), bits_of(0.0));
}

TEST(Masked, WhatNoKindWroteIsReported) {
  std::mt19937_64 random(6);
  const auto data = masked_data<double>(random, 100, 1, 4);
  const auto kind = make_masked(exact_doubles(1), sizeof(double), 1);
  const Record good = record_of(*kind, data, 0, 100, 100);
  for (Bytes size = 0; size < good.size(); ++size) {
    const Record part(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(size));
    EXPECT_NE(finished(*kind, part).status, Status::ok) << size;
    Guarded out(kind->capacity({}));
    EXPECT_NE(status_of(out.taken(merge(*kind, good, part, out.room()))), Status::ok) << size;
  }
  const Bytes needed = merged(*kind, {.record = good, .rows = {}}, {.record = good, .rows = {}}).record.size();
  for (Bytes size = sizeof(Header); size < needed; ++size) {
    Guarded little(size);
    EXPECT_NE(status_of(little.taken(merge(*kind, good, good, little.room()))), Status::ok) << size;
  }
  const auto builder = kind->builder();
  Block block = data.block(0, 100);
  block.mask = nullptr;
  builder->push(0, block);
  EXPECT_EQ(status_of(written(*kind, *builder, {})), Status::invalid_argument);
}

}  // namespace
}  // namespace steadfold::test::masked_test
