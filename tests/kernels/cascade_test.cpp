// Cascades of losses: whatever the reference is certain of is the sum that big integers give; kernels mark the columns
// that the reference marks, and have its sums of the others; and the marked ones are few on ordinary data. Terms as
// they are, and pre-rounded for two to four bins. Hostile terms, few rows and many, widths around vectors, rows that
// are not aligned.
#include "kernels/cascade.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <numeric>
#include <random>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "soak/big_sum.hpp"
#include "support/hostile_terms.hpp"
#include "support/targets.hpp"

namespace steadfold::test::cascade_test {
namespace {

using order::Bytes;
using order::Count;

template <class T>
using BitsOf = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;

constexpr std::size_t few_rows = 16;
constexpr std::size_t many_rows[] = {17, 40, 63, kernels::most_cascaded};

/// All small numbers of rows, and some others.
std::vector<std::size_t> numbers_of_rows() {
  std::vector<std::size_t> numbers(few_rows + 1 - kernels::fewest_cascaded);
  std::iota(numbers.begin(), numbers.end(), kernels::fewest_cascaded);
  numbers.insert(numbers.end(), std::begin(many_rows), std::end(many_rows));
  return numbers;
}

/// Of finite terms.
template <class T>
T sum_of(const std::vector<T>& terms) {
  soak::Magnitude above;
  soak::Magnitude below;
  bool only_minus_zeros = true;
  for (const T x : terms) {
    (std::signbit(x) ? below : above).add(soak::dyadic(x));
    only_minus_zeros &= x == 0 && std::signbit(x);
  }
  const int order = above.compare(below);
  if (order == 0) return only_minus_zeros ? T{-0.0} : T{0};
  if (order < 0) std::swap(above, below);
  above.subtract(below);
  const T size = soak::rounded<T>(above, false);
  return order < 0 ? -size : size;
}

/// The terms as so many bins keep them: rounded to the quantum of the lowest one, ties to even.
template <class T>
std::vector<T> kept(std::vector<T> terms, int bin_count) {
  constexpr int lowest_exponent = -1074;
  constexpr int width = 40;
  const auto is_smaller = [](T x, T y) { return std::abs(x) < std::abs(y); };
  int bound = lowest_exponent;  // of the magnitudes' exponents
  if (const T largest = *std::ranges::max_element(terms, is_smaller); largest != 0) std::frexp(double{largest}, &bound);
  const int top = std::max((bound - lowest_exponent) / width, bin_count - 1);
  const int quantum = lowest_exponent + width * (top - bin_count + 1);
  for (T& x : terms)
    if (std::ilogb(x) < quantum + 60)
      x = static_cast<T>(std::ldexp(std::nearbyint(std::ldexp(double{x}, -quantum)), quantum));
  return terms;
}

/// Columns of terms as rows of bytes, each from `offset` bytes behind its beginning on.
template <class T>
class Rows {
 public:
  Rows(const std::vector<std::vector<T>>& columns, std::size_t rows, Bytes offset)
      : offset_(offset), columns_(columns.size()), bytes_(rows) {
    for (std::size_t row = 0; row < rows; ++row) {
      bytes_[row].resize(offset + columns_ * sizeof(T));
      for (std::size_t i = 0; i < columns_; ++i)
        std::memcpy(bytes_[row].data() + offset + i * sizeof(T), &columns[i][row], sizeof(T));
      places_.push_back(bytes_[row].data());
    }
  }

  struct Found {
    std::vector<T> sums;
    std::vector<std::uint32_t> uncertain;
  };
  Found sums_by(kernels::CascadeRows kernel, int bin_count) const {
    constexpr std::byte guard{0xA5};
    constexpr Bytes before = 1;  // so that sums are not aligned
    Found found{std::vector<T>(columns_), std::vector<std::uint32_t>(columns_)};
    std::vector<std::byte> out(before + columns_ * sizeof(T) + 64, guard);
    found.uncertain.resize(kernel(places_, offset_, columns_, bin_count, out.data() + before, found.uncertain.data()));
    if (columns_ > 0) std::memcpy(found.sums.data(), out.data() + before, columns_ * sizeof(T));
    EXPECT_EQ(out.front(), guard);
    for (Bytes i = before + columns_ * sizeof(T); i < out.size(); ++i) EXPECT_EQ(out[i], guard);
    return found;
  }

 private:
  Bytes offset_;
  std::size_t columns_;
  std::vector<std::vector<std::byte>> bytes_;
  std::vector<const std::byte*> places_;
};

/// What a test has seen.
struct Seen {
  int certain = 0;
  int uncertain = 0;
  int differ = 0;   // certain sums that are not those of plain addition
  int rounded = 0;  // the reference's certain sums that are not those of the terms as they were
};

class Cascade : public EveryTarget {
 protected:
  static bool is_reference() { return GetParam() == kernels::Target::scalar; }

  template <class T>
  void expect_columns(const std::vector<std::vector<T>>& columns, std::size_t rows, Bytes offset, int bin_count,
                      Seen& seen) const {
    const Rows<T> data(columns, rows, offset);
    const auto found = data.sums_by(kernels::cascade_rows<T>(GetParam()), bin_count);
    const auto reference = data.sums_by(kernels::cascade_rows<T>(kernels::Target::scalar), bin_count);
    ASSERT_EQ(found.uncertain, reference.uncertain) << rows << " rows, " << columns.size() << " columns";
    auto next = found.uncertain.begin();
    for (std::size_t i = 0; i < columns.size(); ++i) {
      if (next != found.uncertain.end() && *next == i) {
        ++next;
        seen.uncertain += 1;
        continue;
      }
      const auto bits = [](T x) { return std::bit_cast<BitsOf<T>>(x); };
      for (const T x : columns[i]) ASSERT_TRUE(std::isfinite(x));
      const T due =
          is_reference() ? sum_of(bin_count == 0 ? columns[i] : kept(columns[i], bin_count)) : reference.sums[i];
      ASSERT_EQ(bits(found.sums[i]), bits(due))
          << "column " << i << ", " << bin_count << " bins: " << testing::PrintToString(columns[i]);
      seen.certain += 1;
      seen.rounded += is_reference() && bin_count > 0 && bits(due) != bits(sum_of(columns[i]));
      seen.differ += bits(found.sums[i]) != bits(std::accumulate(columns[i].begin(), columns[i].end(), T{-0.0}));
    }
    EXPECT_EQ(next, found.uncertain.end());
  }

  template <class T>
  void expect_hostile_terms(std::uint64_t seed, int bin_count = 0) const {
    SCOPED_TRACE(seed);
    HostileTerms<T> hostile(seed);
    int rounded = 0;
    for (const Trouble trouble : troubles) {
      Seen seen;
      for (const std::size_t rows : numbers_of_rows()) {
        for (std::size_t width = 0; width < 36; width += rows <= few_rows ? 1 : 17) {
          std::vector<std::vector<T>> columns(width);
          for (std::vector<T>& column : columns) column = hostile.of(rows, trouble);
          expect_columns(columns, rows, width % 9, bin_count, seen);
          if (HasFatalFailure()) return;
        }
      }
      if (bin_count == 0) expect_both_outcomes(trouble, seen);
      rounded += seen.rounded;
    }
    EXPECT_EQ(rounded > 500, bin_count > 0 && is_reference()) << rounded;
  }
  /// The data are what they are meant to be, and plain sums would not do.
  static void expect_both_outcomes(Trouble trouble, const Seen& seen) {
    SCOPED_TRACE("trouble " + std::to_string(static_cast<int>(trouble)));
    EXPECT_GT(seen.certain, 100);
    if (trouble == Trouble::subnormal || trouble == Trouble::zeros) {
      EXPECT_EQ(seen.uncertain, 0);
    } else {
      EXPECT_GT(seen.differ, 25);
    }
    if (trouble >= Trouble::nearly_cancel && trouble != Trouble::subnormal && trouble != Trouble::zeros) {
      EXPECT_GT(seen.uncertain, 100);
    }
  }

  /// How many of 20 000 columns are uncertain.
  template <class T, class Draw>
  std::size_t uncertain(std::size_t rows, const Draw& draw) const {
    std::vector<std::vector<T>> columns(20000, std::vector<T>(rows));
    for (std::vector<T>& column : columns)
      for (T& x : column) x = static_cast<T>(draw());
    return Rows<T>(columns, rows, 0).sums_by(kernels::cascade_rows<T>(GetParam()), 0).uncertain.size();
  }
};

TEST_P(Cascade, IsRightWhereItIsCertainOfDoubles) { expect_hostile_terms<double>(41); }
TEST_P(Cascade, IsRightWhereItIsCertainOfFloats) { expect_hostile_terms<float>(43); }

TEST_P(Cascade, IsRightWhereDoublesArePreRounded) {
  for (const int bin_count : {2, 3, 4}) expect_hostile_terms<double>(61, bin_count);
}
TEST_P(Cascade, IsRightWhereFloatsArePreRounded) {
  for (const int bin_count : {2, 3, 4}) expect_hostile_terms<float>(67, bin_count);
}

TEST_P(Cascade, IsCertainOfNearlyAllOrdinaryColumns) {
  std::mt19937_64 random(47);
  std::uniform_real_distribution<double> even(-1, 1);
  std::normal_distribution<double> normal(0, 1000);
  for (const std::size_t rows : {3u, 4u, 8u, 16u, 64u}) {
    const std::size_t most = rows <= few_rows ? 20 : 100;  // of floats
    EXPECT_LE(uncertain<double>(rows, [&] { return even(random); }), 1u) << rows;
    EXPECT_LE(uncertain<double>(rows, [&] { return normal(random); }), 1u) << rows;
    EXPECT_LE(uncertain<float>(rows, [&] { return even(random); }), most) << rows;
    EXPECT_LE(uncertain<float>(rows, [&] { return normal(random); }), most) << rows;
  }
}

/// What is not finite is marked, in whichever row it stands; so is an overflow that later terms would undo.
TEST_P(Cascade, IsNeverCertainOfWhatIsNotFinite) {
  constexpr double most = std::numeric_limits<double>::max();
  for (const std::size_t rows : numbers_of_rows()) {
    for (std::size_t at = 0; at < rows; at += rows <= few_rows ? 1 : rows / 3) {
      std::vector<std::vector<double>> columns;
      for (const double special : {HUGE_VAL, -HUGE_VAL, std::nan(""), -std::nan("7")}) {
        for (const double other : {0.0, 1.0, most, HUGE_VAL}) {
          columns.emplace_back(rows, other);
          columns.back()[at] = special;
        }
      }
      columns.emplace_back(rows, 0.0);
      columns.back()[at] = columns.back()[(at + 1) % rows] = most;
      if (rows > 2) columns.back()[(at + 2) % rows] = -most;
      const bool overflows = rows == 2 || (at + 2) % rows > std::max(at, (at + 1) % rows);
      for (const int bin_count : {0, 2, 3, 4}) {
        const auto found = Rows<double>(columns, rows, 0).sums_by(kernels::cascade_rows<double>(GetParam()), bin_count);
        EXPECT_EQ(found.uncertain.size(), columns.size() - (overflows ? 0 : 1)) << rows << " rows, " << at;
      }
    }
  }
}

STEADFOLD_EVERY_TARGET(Cascade);

}  // namespace
}  // namespace steadfold::test::cascade_test
