// Kernels whose lanes are columns: what extraction finds are the exact sums of columns whose terms fit, and of no
// others; slices and largest terms are those of the reference. On every target that has such kernels; seeds are
// printed.
#include "kernels/columns.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "kernels/column_bins.hpp"
#include "kernels/extraction.hpp"
#include "kernels/slices.hpp"
#include "support/targets.hpp"

namespace steadfold::test::columns_test {
namespace {

using kernels::ColumnRows;
using kernels::ExtractedTerms;
using kernels::Target;
using kernels::TermForm;
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

double value_of(ExtractedTerms terms, double x, double y) {
  if (terms == ExtractedTerms::products_of_floats) return x * y;
  return terms == ExtractedTerms::absolute_doubles || terms == ExtractedTerms::absolute_floats ? std::abs(x) : x;
}

class ColumnKernels : public EveryTarget {};

/// Terms of 24 bits above the last level's unit, in an exponent range of its own for every column; what is wrong in
/// column `bad`, if anything, is `hostile`.
template <class T>
void expect_extraction(Target target, ExtractedTerms terms, int levels, std::mt19937_64& random, Count rows,
                       Count columns, Count bad, T hostile) {
  const auto add = kernels::add_columns_by_extraction(target, terms, levels);
  if (add == nullptr) {
    EXPECT_EQ(target, Target::scalar);
    return;
  }
  const bool is_product = terms == ExtractedTerms::products_of_floats;
  Rows<T> first(rows, columns, random() % 2 * 7), second(rows, columns, 0);
  second = first;
  kernels::ExtractedColumns found_columns;
  std::vector<Int128> expected(columns);
  for (Count column = 0; column < columns; ++column) {
    const int last = -60 + static_cast<int>(random() % 90);  // the last level's unit
    found_columns.top[column] = last + 52 + kernels::level_step * (levels - 1);
    const int spread = levels == 2 ? 30 : 50;  // less than the exponent range's height
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
  add(all, found_columns);
  for (Count column = 0; column < columns; ++column) {
    EXPECT_EQ(found_columns.fits[column] != 0, column != bad) << "column " << column << " of " << columns;
    if (column == bad) continue;
    Int128 found = 0;
    for (int level = 0; level < levels; ++level)
      found = found * (Int128{1} << kernels::level_step) + found_columns.sums[static_cast<std::size_t>(level)][column];
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
void expect_all_extraction(Target target, ExtractedTerms terms) {
  const auto seed = std::random_device()();
  std::mt19937_64 random(seed);
  SCOPED_TRACE("seed " + std::to_string(seed) + ", terms " + std::to_string(static_cast<unsigned>(terms)));
  using Limits = std::numeric_limits<T>;
  const Count none = kernels::most_columns;
  for (const int levels : {2, 4})
    for (Count columns = 1; columns <= kernels::most_columns; ++columns)
      for (const Count rows : {Count{1}, Count{2}, Count{17}, kernels::most_rows_of_columns}) {
        expect_extraction<T>(target, terms, levels, random, rows, columns, none, T{0});
        for (const T hostile : {Limits::infinity(), -Limits::infinity(), Limits::quiet_NaN(),
                                sizeof(T) == 8 ? Limits::max() : Limits::infinity()})
          expect_extraction<T>(target, terms, levels, random, rows, columns, random() % columns, hostile);
      }
}

TEST_P(ColumnKernels, ExtractSumsOfDoubles) {
  expect_all_extraction<double>(GetParam(), ExtractedTerms::doubles);
  expect_all_extraction<double>(GetParam(), ExtractedTerms::absolute_doubles);
}

TEST_P(ColumnKernels, ExtractSumsOfFloats) {
  expect_all_extraction<float>(GetParam(), ExtractedTerms::floats);
  expect_all_extraction<float>(GetParam(), ExtractedTerms::absolute_floats);
}

TEST_P(ColumnKernels, ExtractSumsOfProductsOfFloats) {
  const auto seed = std::random_device()();
  std::mt19937_64 random(seed);
  SCOPED_TRACE("seed " + std::to_string(seed));
  for (const int levels : {2, 4})
    for (Count columns = 1; columns <= kernels::most_columns; ++columns)
      expect_extraction<float>(GetParam(), ExtractedTerms::products_of_floats, levels, random, 30, columns,
                               kernels::most_columns, 0);
}

/// Half a unit of the last level is lost, wherever it stands, and only its column knows.
TEST_P(ColumnKernels, SeeWhatIsLost) {
  std::mt19937_64 random(1);
  for (const int levels : {2, 4}) {
    const auto add = kernels::add_columns_by_extraction(GetParam(), ExtractedTerms::doubles, levels);
    if (add == nullptr) continue;
    for (Count bad = 0; bad < kernels::most_columns; ++bad)
      for (Count row = 0; row < 9; ++row) {
        Rows<double> rows(9, kernels::most_columns, 0);
        for (Count i = 0; i < 9; ++i)
          for (Count j = 0; j < kernels::most_columns; ++j) rows.set(i, j, term<double>(random, 20, 0));
        const int top = 52 + kernels::level_step * (levels - 1);  // the last unit is 1
        rows.set(row, bad, 0.5);
        kernels::ExtractedColumns found_columns;
        found_columns.top.fill(top);
        add(rows.with(nullptr), found_columns);
        for (Count j = 0; j < kernels::most_columns; ++j) EXPECT_EQ(found_columns.fits[j] != 0, j != bad);
      }
  }
}

template <class T>
void expect_largest(Target target, TermForm form) {
  const auto kernel = kernels::largest_of_columns<T>(target, form);
  if (kernel == nullptr) {
    EXPECT_EQ(target, Target::scalar);
    return;
  }
  const auto seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  const auto reference = kernels::add_slices<T>(Target::scalar, form, 0);
  for (Count columns = 1; columns <= kernels::most_columns; ++columns)
    for (const Count rows : {Count{1}, Count{3}, Count{128}}) {
      Rows<T> first(rows, columns, random() % 2 * 3), second = first;
      for (Count column = 0; column < columns; ++column)
        for (Count row = 0; row < rows; ++row) {
          first.set(row, column, term<T>(random, 24, -30));
          second.set(row, column, term<T>(random, 10, -9));
        }
      if (random() % 2 == 0) first.set(rows - 1, random() % columns, std::numeric_limits<T>::quiet_NaN());
      if (random() % 2 == 0) first.set(0, random() % columns, -std::numeric_limits<T>::infinity());
      kernels::EachColumn<std::uint64_t> found;
      kernel(first.with(form == TermForm::product ? &second : nullptr), found);
      for (Count column = 0; column < columns; ++column) {
        const auto x = first.column(column), y = second.column(column);
        const auto largest = reference(x.data(), y.data(), rows, 1.0, nullptr, nullptr);
        constexpr std::uint64_t infinity = 0x7FF0000000000000;
        if (largest >= infinity)
          EXPECT_GE(found[column], infinity);
        else
          EXPECT_EQ(found[column], largest) << "column " << column;
      }
    }
}

TEST_P(ColumnKernels, FindTheLargest) {
  for (const TermForm form : {TermForm::element, TermForm::product}) {
    expect_largest<double>(GetParam(), form);
    expect_largest<float>(GetParam(), form);
  }
}

/// Groups with terms around the borders of bin ranges and at the ends of the format: what is added, and where a run
/// ends.
template <class T>
class GroupsOfBins {
 public:
  static constexpr std::uint8_t flag = 8;
  static constexpr std::int64_t room = std::int64_t{1} << 61;

  GroupsOfBins(Target target, TermForm form, int bin_count)
      : form_(form),
        bin_count_(bin_count),
        kernel_(kernels::add_to_groups_of_bins<T>(target, form, bin_count)),
        reference_(kernels::add_slices<T>(Target::scalar, form, bin_count)) {}

  bool exist() const { return kernel_ != nullptr; }

  void expect_sums(std::mt19937_64& random) {
    const Count columns = 1 + random() % 40;
    const Count rows = random() % 4 == 0 ? 128 : 1 + random() % 4;
    Rows<T> first(rows, columns, random() % 2 * 3), second = first;
    const int usual = any_exponent(random);
    for (Count column = 0; column < columns; ++column) {
      const int around = random() % 4 == 0 ? any_exponent(random) : usual;
      for (Count row = 0; row < rows; ++row) {
        first.set(row, column, term<T>(random, 20, around - 20 + static_cast<int>(random() % 4)));
        second.set(row, column, column % 3 == 0 ? T{-1} : T{1});
      }
    }
    std::vector<kernels::GroupOfBins> groups(columns / 8 + 1);
    for (auto& group : groups) begin(group, random);
    for (int odd = 0; odd < 3; ++odd) spoil(first, groups, random);
    std::vector<kernels::GroupOfBins> due = groups;
    Count due_groups = 0;
    std::uint8_t due_left_out = 0, left_out = 0xFF;
    while (due_groups * 8 < columns && due_left_out == 0) {
      due_left_out = add(first, second, due_groups, due[due_groups]);
      ++due_groups;
    }
    ASSERT_EQ(kernel_(first.with(form_ == TermForm::product ? &second : nullptr), lowest_top(), flag, groups.data(),
                      left_out),
              due_groups);
    ASSERT_EQ(left_out, due_left_out);
    for (Count i = 0; i < columns; ++i) {
      const kernels::GroupOfBins& group = groups[i / 8];
      ASSERT_EQ(group.tops[i % 8], due[i / 8].tops[i % 8]) << i;
      ASSERT_EQ(group.flags[i % 8], due[i / 8].flags[i % 8]) << i;
      for (std::size_t bin = 0; bin < static_cast<std::size_t>(bin_count_); ++bin)
        ASSERT_EQ(group.sums[bin][i % 8], due[i / 8].sums[bin][i % 8]) << i << ", bin " << bin;
    }
    done += due_groups;
    ended += due_left_out != 0;
  }

  Count done = 0;
  int ended = 0;

 private:
  static constexpr int width = 40;
  bool squares() const { return form_ == TermForm::square; }
  std::uint8_t lowest_top() const { return static_cast<std::uint8_t>(bin_count_ - 1); }
  int quantum(int bin) const { return (squares() ? 2 : 1) * -1074 + width * bin; }
  /// The lowest bin range, none of whose terms is more than half of the quantum above it.
  int top_of(double largest) const {
    int top = lowest_top();
    const int bound = largest == 0 ? -5000 : (squares() ? 2 : 1) * (std::ilogb(largest) + 1);  // not above 2^bound
    while (bound >= quantum(top + 1)) ++top;
    return top;
  }

  int any_exponent(std::mt19937_64& random) const {
    using Limits = std::numeric_limits<T>;
    const int least = Limits::min_exponent - Limits::digits, most = Limits::max_exponent - 4;
    return least + static_cast<int>(random() % static_cast<std::uint64_t>(most - least));
  }
  /// Empty, or with sums.
  void begin(kernels::GroupOfBins& group, std::mt19937_64& random) const {
    const bool is_empty = random() % 2 == 0;
    const auto highest = static_cast<std::uint64_t>(squares() ? 104 : 52);
    for (std::size_t i = 0; i < 8; ++i) {
      const auto top = lowest_top() + random() % (highest - lowest_top() + 1);
      group.tops[i] = is_empty ? lowest_top() : static_cast<std::uint8_t>(top);
      group.flags[i] = is_empty ? std::uint8_t{0} : static_cast<std::uint8_t>(random() % 16);
      for (auto& sums : group.sums) sums[i] = is_empty ? 0 : static_cast<std::int64_t>(random()) >> (4 + random() % 50);
    }
  }
  void spoil(Rows<T>& rows, std::vector<kernels::GroupOfBins>& groups, std::mt19937_64& random) const {
    using Limits = std::numeric_limits<T>;
    const Count column = random() % rows.columns();
    kernels::GroupOfBins& group = groups[column / 8];
    const Count row = random() % rows.rows();
    const auto all = [&](T value) {
      for (Count each = 0; each < rows.rows(); ++each) rows.set(each, column, value);
    };
    switch (random() % 16) {
      case 0: rows.set(row, column, Limits::quiet_NaN()); break;
      case 1: rows.set(row, column, -Limits::infinity()); break;
      case 2: group.sums[1][column % 8] = room - 1; break;
      case 3: group.sums[0][column % 8] = -room; break;
      case 4: all(Limits::denorm_min()); break;
      case 5: all(Limits::max()); break;
      case 6: all(0); break;
      case 7: all(-T{0}); break;
      case 8: rows.set(row, column, T{0}); break;
      case 9: rows.set(row, column, -T{0}); break;
      default: break;
    }
  }
  /// What the kernel has to do with one group; which columns it leaves out.
  std::uint8_t add(const Rows<T>& first, const Rows<T>& second, Count number, kernels::GroupOfBins& group) const {
    const Count columns = std::min<Count>(8, first.columns() - 8 * number);
    unsigned left_out = 0;
    for (std::size_t i = 0; i < columns; ++i)
      if (!add_column(first, second, number, i, group)) left_out |= 1U << i;
    return static_cast<std::uint8_t>(left_out);
  }
  bool add_column(const Rows<T>& first, const Rows<T>& second, Count number, std::size_t i,
                  kernels::GroupOfBins& group) const {
    kernels::GroupOfBins sum = group;
    const auto x = first.column(8 * number + i), y = second.column(8 * number + i);
    const std::uint64_t bits =
        kernels::add_slices<T>(Target::scalar, form_, 0)(x.data(), y.data(), first.rows(), 1.0, nullptr, nullptr);
    const auto largest = std::bit_cast<double>(bits);
    if (!std::isfinite(largest) || (squares() && largest != 0 && largest < std::numeric_limits<double>::min()))
      return false;
    const int top = std::max<int>(group.tops[i], top_of(largest));
    const int scale = squares()                  ? std::clamp(-quantum(top + 1) / 2, -1022, 1022)
                      : quantum(top) + 53 > 1023 ? -width
                                                 : 0;
    std::array<double, 4> extractors{};
    for (int bin = 0; bin < bin_count_; ++bin)
      extractors[static_cast<std::size_t>(bin)] =
          std::ldexp(1.5, quantum(top - bin) + (squares() ? 2 : 1) * scale + 52);
    std::array<std::int64_t, 4> sums{};
    reference_(x.data(), y.data(), first.rows(), std::ldexp(1.0, scale), extractors.data(), sums.data());
    const int by = top - group.tops[i];
    for (int bin = 0; bin < bin_count_; ++bin) {
      const std::int64_t before = bin < by ? 0 : group.sums[static_cast<std::size_t>(bin - by)][i];
      const std::int64_t all = before + sums[static_cast<std::size_t>(bin)];
      if (all < -room || all >= room) return false;
      sum.sums[static_cast<std::size_t>(bin)][i] = all;
    }
    sum.tops[i] = static_cast<std::uint8_t>(top);
    bool has_other = squares();
    for (Count row = 0; row < first.rows(); ++row) {
      const T term = form_ == TermForm::product ? x[row] * y[row] : x[row];
      has_other |= term != 0 || !std::signbit(term);
    }
    if (has_other) sum.flags[i] |= flag;
    group = sum;
    return true;
  }

  TermForm form_;
  int bin_count_;
  kernels::AddToGroupsOfBins kernel_;
  kernels::AddSlices reference_;
};

template <class T>
void expect_groups(Target target) {
  const auto seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  for (const TermForm form : {TermForm::element, TermForm::product, TermForm::square})
    for (const int bin_count : {2, 3, 4}) {
      GroupsOfBins<T> groups(target, form, bin_count);
      if (!groups.exist()) {
        EXPECT_EQ(target, Target::scalar);
        return;
      }
      for (int round = 0; round < 40; ++round) ASSERT_NO_FATAL_FAILURE(groups.expect_sums(random)) << round;
      EXPECT_GT(groups.done, 40u);
      EXPECT_GT(groups.ended, 0);
    }
}

TEST_P(ColumnKernels, AddToGroupsOfBins) {
  expect_groups<double>(GetParam());
  expect_groups<float>(GetParam());
}

STEADFOLD_EVERY_TARGET(ColumnKernels);

}  // namespace
}  // namespace steadfold::test::columns_test
