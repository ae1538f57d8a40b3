// Folds against nodes that are built level by level from pairs, with operators written anew: every length to 2000 from
// every offset to 600 (doubles are a word apart, so this is every alignment), then lengths around powers of two, on
// every target.
#include "kernels/fold.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "arithmetic/ieee.hpp"
#include "order/recursion.hpp"
#include "support/targets.hpp"

namespace steadfold::test::fold_test {
namespace {

using kernels::Target;
using order::Count;
using order::Index;

template <class T>
using Unsigned = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;

struct Add {
  using Kernel = kernels::Sum;
  template <class T>
  static T of(T a, T b) {
    if constexpr (std::is_integral_v<T>) return static_cast<T>(Unsigned<T>(a) + Unsigned<T>(b));
    return a + b;
  }
};
struct Multiply {
  using Kernel = kernels::Product;
  template <class T>
  static T of(T a, T b) {
    if constexpr (std::is_integral_v<T>) return static_cast<T>(Unsigned<T>(a) * Unsigned<T>(b));
    return a * b;
  }
};
template <bool least>
struct Extreme {
  using Kernel = std::conditional_t<least, kernels::Min, kernels::Max>;
  template <class T>
  static T of(T a, T b) {
    if constexpr (std::is_integral_v<T>)
      return (a < b) == least ? a : b;
    else
      return std::bit_cast<T>(extreme<T>(std::bit_cast<BitsOf<T>>(a), std::bit_cast<BitsOf<T>>(b), least));
  }
};

template <class T>
Unsigned<T> bits_to_compare(T value) {
  if constexpr (std::is_floating_point_v<T>)
    return canonical_bits(value);
  else
    return static_cast<Unsigned<T>>(value);
}

/// Values whose order of adding shows; now and then one of the special ones where `special`.
template <class T>
std::vector<T> values(std::uint64_t seed, Count count, bool special) {
  std::mt19937_64 random(seed);
  std::vector<T> x(count);
  for (T& element : x) {
    if constexpr (std::is_floating_point_v<T>) {
      element = wide_value<T>(random);
      if (special && random() % 64 == 0) element = special_values<T>()[random() % special_values<T>().size()];
    } else {
      element = static_cast<T>(random());
    }
  }
  return x;
}

/// Every full dyadic node over the elements.
template <class Op, class T>
class Nodes {
 public:
  explicit Nodes(std::vector<T> elements) : levels_{std::move(elements)} {
    while (levels_.back().size() > 1) {
      const std::vector<T>& below = levels_.back();
      std::vector<T> level(below.size() / 2);
      for (std::size_t i = 0; i < level.size(); ++i) level[i] = Op::of(below[2 * i], below[2 * i + 1]);
      levels_.push_back(std::move(level));
    }
  }

  const T* elements() const { return levels_[0].data(); }

  /// The values of the maximal nodes of [begin, end).
  std::vector<T> maximal(Index begin, Index end) const {
    std::vector<T> found;
    for (const auto node : reference::nodes_from_left(begin, end))
      found.push_back(levels_[static_cast<std::size_t>(node.level)][node.start >> node.level]);
    return found;
  }

 private:
  std::vector<std::vector<T>> levels_;
};

template <class Op, class T>
void expect_nodes(Target target, const Nodes<Op, T>& nodes, Index begin, Count count) {
  T found[128];
  const std::vector<T> expected = nodes.maximal(begin, begin + count);
  const auto fold = kernels::fold<typename Op::Kernel, T>(target);
  ASSERT_EQ(fold(nodes.elements() + begin, begin, count, found), expected.size()) << begin << " + " << count;
  for (std::size_t i = 0; i < expected.size(); ++i)
    ASSERT_EQ(bits_to_compare(found[i]), bits_to_compare(expected[i]))
        << "node " << i << " of " << count << " elements from " << begin;
}

class Fold : public EveryTarget {};

TEST_P(Fold, OfDoublesFromEveryOffsetAndOfEveryLength) {
  const Nodes<Add, double> nodes(values<double>(11, 4096, false));
  for (Index begin = 0; begin <= 600; ++begin)
    for (Count count = 0; count <= 2000; count += begin % 8 == 0 ? 1 : 7) expect_nodes(GetParam(), nodes, begin, count);
}

TEST_P(Fold, OfLengthsAroundPowersOfTwo) {
  const Nodes<Add, double> nodes(values<double>(12, (Count{1} << 22) + 8192, false));
  for (int power = 11; power <= 22; ++power)
    for (const Index begin : {0, 1, 2, 5, 64, 600, 1000, 4095})
      for (const int more : {-65, -1, 0, 1, 63})
        expect_nodes(GetParam(), nodes, begin, static_cast<Count>((std::int64_t{1} << power) + more));
}

template <class Op, class T>
void expect_all_lengths(Target target) {
  const Nodes<Op, T> nodes(values<T>(13, 16384, true));
  std::mt19937_64 random(14);
  for (Count count = 0; count <= 2000; ++count) expect_nodes(target, nodes, random() % 601, count);
  for (int round = 0; round < 200; ++round) expect_nodes(target, nodes, random() % 4096, random() % 12288);
}

template <class T>
void expect_all_operators(Target target) {
  expect_all_lengths<Add, T>(target);
  expect_all_lengths<Multiply, T>(target);
  expect_all_lengths<Extreme<true>, T>(target);
  expect_all_lengths<Extreme<false>, T>(target);
}

TEST_P(Fold, OfEveryTypeByEveryOperator) {
  expect_all_operators<double>(GetParam());
  expect_all_operators<float>(GetParam());
  expect_all_operators<std::int32_t>(GetParam());
  expect_all_operators<std::int64_t>(GetParam());
  expect_all_operators<std::uint32_t>(GetParam());
  expect_all_operators<std::uint64_t>(GetParam());
}

/// Every node of a few rows that begin anywhere, of every column.
template <class Op, class T>
void expect_rows(Target target) {
  for (const Count columns : {1, 2, 3, 5, 7, 8, 9, 15, 16, 17, 31, 33, 100}) {
    for (const order::Interval rows : {order::Interval{0, 8}, {0, 0}, {3, 4}, {5, 8}, {7, 30}, {8, 72}, {1, 100}}) {
      const Count stride = columns + columns % 3;
      const std::vector<T> x = values<T>(columns, std::max<Count>(rows.size(), 1) * stride, true);
      std::vector<T> found(columns * std::max<Count>(order::most_nodes(rows), 1));
      const auto fold = kernels::fold_rows<typename Op::Kernel, T>(target);
      Count nodes = fold(x.data(), stride * sizeof(T), columns, rows.begin, rows.size(), found.data());
      ASSERT_EQ(nodes, order::node_count(rows));
      const T* node = found.data();
      for (order::Interval rest = rows; !rest.empty(); node += columns) {
        const order::Node first = order::first_node(rest);
        for (Count c = 0; c < columns; ++c) {
          const auto leaf = [&](std::uint64_t y) { return x[(first.start - rows.begin + y) * stride + c]; };
          const T expected = reference::tree(first.size(), leaf, [](T a, T b) { return Op::of(a, b); });
          ASSERT_EQ(bits_to_compare(node[c]), bits_to_compare(expected))
              << "column " << c << " of " << columns << ", rows " << rows.begin << " to " << rows.end;
        }
        rest.begin = first.end();
      }
    }
  }
}

TEST_P(Fold, OfRowsColumnByColumn) {
  expect_rows<Add, double>(GetParam());
  expect_rows<Add, float>(GetParam());
  expect_rows<Multiply, double>(GetParam());
  expect_rows<Multiply, std::uint64_t>(GetParam());
  expect_rows<Extreme<true>, float>(GetParam());
  expect_rows<Extreme<false>, double>(GetParam());
  expect_rows<Add, std::int32_t>(GetParam());
}

template <class Op, class T>
void expect_pairs(Target target) {
  for (const Count count : {0, 1, 7, 8, 9, 31, 64, 100, 1001}) {
    const std::vector<T> a = values<T>(count + 20, count, true);
    const std::vector<T> b = values<T>(count + 21, count, true);
    const auto pairs = kernels::pairs<typename Op::Kernel, T>(target);
    std::vector<T> apart(count);
    std::vector<T> left = a;
    std::vector<T> right = b;
    pairs(a.data(), b.data(), apart.data(), count);
    pairs(left.data(), b.data(), left.data(), count);
    pairs(a.data(), right.data(), right.data(), count);
    for (Count i = 0; i < count; ++i) {
      const auto expected = bits_to_compare(Op::of(a[i], b[i]));
      ASSERT_EQ(bits_to_compare(apart[i]), expected) << i << " of " << count;
      ASSERT_EQ(bits_to_compare(left[i]), expected) << i << " of " << count << ", over the left ones";
      ASSERT_EQ(bits_to_compare(right[i]), expected) << i << " of " << count << ", over the right ones";
    }
  }
}

TEST_P(Fold, OfPairs) {
  expect_pairs<Add, double>(GetParam());
  expect_pairs<Add, float>(GetParam());
  expect_pairs<Multiply, double>(GetParam());
  expect_pairs<Multiply, std::int64_t>(GetParam());
  expect_pairs<Extreme<true>, double>(GetParam());
  expect_pairs<Extreme<false>, float>(GetParam());
  expect_pairs<Add, std::uint32_t>(GetParam());
}

/// Every NaN becomes the canonical one wherever it stands, and nothing else changes.
template <class T>
void expect_canonical(Target target) {
  for (const Count count : {1, 9, 255, 256, 511, 512, 700, 2000}) {
    std::vector<T> x = values<T>(count + 30, count, count % 2 == 0);
    x[count / 2] = -std::numeric_limits<T>::quiet_NaN();
    std::vector<T> expected = x;
    for (T& value : expected) value = std::bit_cast<T>(canonical_bits(value));
    kernels::canonicalise<T>(target)(x.data(), count);
    ASSERT_EQ(std::memcmp(x.data(), expected.data(), count * sizeof(T)), 0) << count;
  }
}

TEST_P(Fold, CanonicalisesNaNs) {
  expect_canonical<double>(GetParam());
  expect_canonical<float>(GetParam());
}

TEST_P(Fold, ReadsNoOtherMemory) {  // what the address sanitizer sees
  for (const Count count : {1, 7, 8, 63, 64, 65, 100, 4095, 4096, 4097, 3 * 4096, 3 * 4096 + 5}) {
    for (const std::size_t offset : {0, 1, 3}) {
      const std::vector<double> exactly(count + offset, 1.0);
      double found[128];
      const Count nodes = kernels::fold<kernels::Sum, double>(GetParam())(exactly.data() + offset, 4096, count, found);
      double sum = 0;
      for (Count i = 0; i < nodes; ++i) sum += found[i];
      ASSERT_EQ(sum, static_cast<double>(count));
    }
  }
}

TEST_P(Fold, IsAnotherFunctionThanTheReference) {
  const auto function = &kernels::fold<kernels::Sum, double>;
  EXPECT_EQ(function(GetParam()) == function(Target::scalar), GetParam() == Target::scalar);
}

STEADFOLD_EVERY_TARGET(Fold);

/// The control: the order that these tests tell apart does change the bits.
TEST(FoldControl, AnotherOrderDiffers) {
  const std::vector<double> x = values<double>(11, 1024, false);
  double from_left = x[0];
  for (std::size_t i = 1; i < x.size(); ++i) from_left += x[i];
  EXPECT_NE(std::bit_cast<std::uint64_t>(from_left),
            std::bit_cast<std::uint64_t>((Nodes<Add, double>(x).maximal(0, 1024)[0])));
}

}  // namespace
}  // namespace steadfold::test::fold_test
