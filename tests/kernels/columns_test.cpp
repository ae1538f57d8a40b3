// Kernels whose lanes are columns: what a window finds are the exact sums of columns whose terms fit, and of no others;
// shares and largest terms are those of the reference. On every target that has such kernels; seeds are printed.
#include "kernels/columns.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "kernels/shares.hpp"
#include "kernels/window.hpp"
#include "support/targets.hpp"

namespace steadfold::test::columns_test {
namespace {

using kernels::ColumnRows;
using kernels::Target;
using kernels::TermForm;
using kernels::WindowTerms;
using order::Count;

__extension__ typedef __int128 Int128;

/// Rows of elements, which begin one byte after an aligned address, with gaps between them.
template <class T>
class Rows {
 public:
  Rows(Count rows, Count columns, Count gap)
      : rows_(rows), columns_(columns), stride_(columns * sizeof(T) + gap), memory_(1 + rows * stride_) {}

  void set(Count row, Count column, T value) { std::memcpy(at(row, column), &value, sizeof value); }
  T get(Count row, Count column) const {
    T value;
    std::memcpy(&value, const_cast<Rows*>(this)->at(row, column), sizeof value);
    return value;
  }
  std::vector<T> column(Count column) const {
    std::vector<T> all;
    for (Count row = 0; row < rows_; ++row) all.push_back(get(row, column));
    return all;
  }
  Count rows() const { return rows_; }
  Count columns() const { return columns_; }
  ColumnRows with(const Rows* second) const {
    return {.first = memory_.data() + 1,
            .second = second == nullptr ? nullptr : second->memory_.data() + 1,
            .row_stride = stride_,
            .rows = rows_,
            .columns = columns_};
  }

 private:
  std::byte* at(Count row, Count column) { return memory_.data() + 1 + row * stride_ + column * sizeof(T); }

  Count rows_, columns_, stride_;
  std::vector<std::byte> memory_;
};

/// An integer of so many bits times 2^exponent.
template <class T>
T term(std::mt19937_64& random, int bits, int exponent) {
  const auto whole = static_cast<T>(random() >> (64 - bits));
  return std::ldexp(random() % 2 == 0 ? whole : -whole, exponent);
}

double value_of(WindowTerms terms, double x, double y) {
  if (terms == WindowTerms::products_of_floats) return x * y;
  return terms == WindowTerms::absolute_doubles || terms == WindowTerms::absolute_floats ? std::abs(x) : x;
}

class ColumnKernels : public EveryTarget {};

/// Terms of 24 bits above the window's last unit, in a window of its own for every column; what is wrong in column
/// `bad`, if anything, is `hostile`.
template <class T>
void expect_windows(Target target, WindowTerms terms, int levels, std::mt19937_64& random, Count rows, Count columns,
                    Count bad, T hostile) {
  const auto add = kernels::add_columns_to_windows(target, terms, levels);
  if (add == nullptr) {
    EXPECT_EQ(target, Target::scalar);
    return;
  }
  const bool is_product = terms == WindowTerms::products_of_floats;
  Rows<T> first(rows, columns, random() % 2 * 7), second(rows, columns, 0);
  second = first;
  kernels::ColumnWindows windows;
  std::vector<Int128> expected(columns);
  for (Count column = 0; column < columns; ++column) {
    const int last = -60 + static_cast<int>(random() % 90);  // the last level's unit
    windows.top[column] = last + 52 + kernels::window_step * (levels - 1);
    const int spread = levels == 2 ? 30 : 50;  // less than the window's height
    for (Count row = 0; row < rows; ++row) {
      const int exponent = last + static_cast<int>(random() % static_cast<unsigned>(spread));
      first.set(row, column, term<T>(random, is_product ? 12 : 24, is_product ? exponent / 2 : exponent));
      second.set(row, column, term<T>(random, 12, is_product ? exponent - exponent / 2 : 0));
      const double value = value_of(terms, first.get(row, column), second.get(row, column));
      expected[column] += static_cast<Int128>(std::ldexp(value, -last));
    }
  }
  if (bad < columns) first.set(rows / 2, bad, hostile);
  const ColumnRows all = first.with(is_product ? &second : nullptr);
  add(all, windows);
  for (Count column = 0; column < columns; ++column) {
    EXPECT_EQ(windows.fits[column] != 0, column != bad) << "column " << column << " of " << columns;
    if (column == bad) continue;
    Int128 found = 0;
    for (int level = 0; level < levels; ++level)
      found = found * (Int128{1} << kernels::window_step) + windows.sums[static_cast<std::size_t>(level)][column];
    EXPECT_TRUE(found == expected[column]) << "column " << column << ", " << rows << " rows";
  }

  kernels::EachColumn<std::int64_t> exponents;
  kernels::highest_exponents(target, terms)(all, exponents);
  for (Count column = 0; column < columns; ++column) {
    std::uint64_t most = 0;
    for (Count row = 0; row < rows; ++row) {
      const double value = value_of(terms, first.get(row, column), second.get(row, column));
      most = std::max(most, std::bit_cast<std::uint64_t>(std::abs(value)));
    }
    EXPECT_EQ(exponents[column], static_cast<std::int64_t>(most >> 52) - 1023) << "column " << column;
  }
}

template <class T>
void expect_all_windows(Target target, WindowTerms terms) {
  const auto seed = std::random_device()();
  std::mt19937_64 random(seed);
  SCOPED_TRACE("seed " + std::to_string(seed) + ", terms " + std::to_string(static_cast<unsigned>(terms)));
  using Limits = std::numeric_limits<T>;
  const Count none = kernels::most_columns;
  for (const int levels : {2, 4})
    for (Count columns = 1; columns <= kernels::most_columns; ++columns)
      for (const Count rows : {Count{1}, Count{2}, Count{17}, kernels::most_rows_of_columns}) {
        expect_windows<T>(target, terms, levels, random, rows, columns, none, T{0});
        for (const T hostile : {Limits::infinity(), -Limits::infinity(), Limits::quiet_NaN(),
                                sizeof(T) == 8 ? Limits::max() : Limits::infinity()})
          expect_windows<T>(target, terms, levels, random, rows, columns, random() % columns, hostile);
      }
}

TEST_P(ColumnKernels, FindWindowsOfDoubles) {
  expect_all_windows<double>(GetParam(), WindowTerms::doubles);
  expect_all_windows<double>(GetParam(), WindowTerms::absolute_doubles);
}

TEST_P(ColumnKernels, FindWindowsOfFloats) {
  expect_all_windows<float>(GetParam(), WindowTerms::floats);
  expect_all_windows<float>(GetParam(), WindowTerms::absolute_floats);
}

TEST_P(ColumnKernels, FindWindowsOfProductsOfFloats) {
  const auto seed = std::random_device()();
  std::mt19937_64 random(seed);
  SCOPED_TRACE("seed " + std::to_string(seed));
  for (const int levels : {2, 4})
    for (Count columns = 1; columns <= kernels::most_columns; ++columns)
      expect_windows<float>(GetParam(), WindowTerms::products_of_floats, levels, random, 30, columns,
                            kernels::most_columns, 0);
}

/// Half a unit of the last level is lost, wherever it stands, and only its column knows.
TEST_P(ColumnKernels, SeeWhatIsLost) {
  std::mt19937_64 random(1);
  for (const int levels : {2, 4}) {
    const auto add = kernels::add_columns_to_windows(GetParam(), WindowTerms::doubles, levels);
    if (add == nullptr) continue;
    for (Count bad = 0; bad < kernels::most_columns; ++bad)
      for (Count row = 0; row < 9; ++row) {
        Rows<double> rows(9, kernels::most_columns, 0);
        for (Count i = 0; i < 9; ++i)
          for (Count j = 0; j < kernels::most_columns; ++j) rows.set(i, j, term<double>(random, 20, 0));
        const int top = 52 + kernels::window_step * (levels - 1);  // the last unit is 1
        rows.set(row, bad, 0.5);
        kernels::ColumnWindows windows;
        windows.top.fill(top);
        add(rows.with(nullptr), windows);
        for (Count j = 0; j < kernels::most_columns; ++j) EXPECT_EQ(windows.fits[j] != 0, j != bad);
      }
  }
}

template <class T>
void expect_shares(Target target, TermForm form, int bin_count) {
  const auto kernel = kernels::shares_of_columns<T>(target, form, bin_count);
  if (kernel == nullptr) {
    EXPECT_EQ(target, Target::scalar);
    return;
  }
  const auto seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed) + ", " + std::to_string(bin_count) + " bins");
  std::mt19937_64 random(seed);
  const auto reference = kernels::shares<T>(Target::scalar, form, bin_count);
  for (Count columns = 1; columns <= kernels::most_columns; ++columns)
    for (const Count rows : {Count{1}, Count{3}, Count{128}}) {
      Rows<T> first(rows, columns, random() % 2 * 3), second = first;
      kernels::ColumnShares found;
      for (Count column = 0; column < columns; ++column) {
        const int unit = -20 + static_cast<int>(random() % 20);
        found.scale[column] = form == TermForm::square ? 0.5 : 1.0;
        for (int bin = 0; bin < 4; ++bin)
          found.extractors[static_cast<std::size_t>(bin)][column] = std::ldexp(1.5, unit + 52 - 40 * bin);
        for (Count row = 0; row < rows; ++row) {
          first.set(row, column, term<T>(random, 24, unit - 10));
          second.set(row, column, term<T>(random, 10, -9));
        }
      }
      if (random() % 2 == 0) first.set(rows - 1, random() % columns, std::numeric_limits<T>::quiet_NaN());
      if (random() % 2 == 0) first.set(0, random() % columns, -std::numeric_limits<T>::infinity());
      kernel(first.with(form == TermForm::product ? &second : nullptr), found);
      for (Count column = 0; column < columns; ++column) {
        const auto x = first.column(column);
        const auto y = second.column(column);
        std::array<double, 4> extractors{};
        for (std::size_t bin = 0; bin < 4; ++bin) extractors[bin] = found.extractors[bin][column];
        std::array<std::int64_t, 4> sums{};
        const auto largest = reference(x.data(), y.data(), rows, found.scale[column], extractors.data(), sums.data());
        constexpr std::uint64_t infinity = 0x7FF0000000000000;
        if (largest >= infinity) {
          EXPECT_GE(found.largest[column], infinity);
          continue;
        }
        EXPECT_EQ(found.largest[column], largest) << "column " << column;
        for (std::size_t bin = 0; bin < static_cast<std::size_t>(bin_count); ++bin)
          EXPECT_EQ(found.sums[bin][column], sums[bin]) << "column " << column << ", bin " << bin;
      }
    }
}

TEST_P(ColumnKernels, DealOutShares) {
  for (const TermForm form : {TermForm::element, TermForm::product, TermForm::square})
    for (const int bin_count : {0, 2, 3, 4}) {
      expect_shares<double>(GetParam(), form, bin_count);
      expect_shares<float>(GetParam(), form, bin_count);
    }
}

STEADFOLD_EVERY_TARGET(ColumnKernels);

}  // namespace
}  // namespace steadfold::test::columns_test
