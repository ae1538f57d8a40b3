// Built-in operators under the tree: the bits of [S0]'s recursion for any values, IEEE's special ones first.
#include <gtest/gtest.h>

#include <cstdlib>
#include <numeric>

#include "arithmetic/ieee.hpp"
#include "arithmetic/records.hpp"
#include "arithmetic/tree/tree.hpp"
#include "order/recursion.hpp"

namespace steadfold::test::tree_values_test {
namespace {

using arithmetic::built_in;
using arithmetic::make_tree;
using arithmetic::Operation;
using arithmetic::Operator;
using arithmetic::Type;

template <class T>
T combined(Operation operation, T a, T b) {
  switch (operation) {
    case Operation::sum: return a + b;
    case Operation::product: return a * b;
    default: break;
  }
  const bool least = operation == Operation::min;
  return std::bit_cast<T>(extreme<T>(std::bit_cast<BitsOf<T>>(a), std::bit_cast<BitsOf<T>>(b), least));
}

template <class T>
BitsOf<T> expected_bits(Operation operation, const std::vector<T>& elements) {
  return canonical_bits(reference::tree(elements, [operation](T a, T b) { return combined(operation, a, b); }));
}

template <class T>
BitsOf<T> found_bits(const PartialKind& kind, Builder& builder, const std::vector<T>& elements) {
  const Part part = built(kind, builder, table_of(elements), std::vector<Interval>{{0, elements.size()}});
  const Finished whole = finished(kind, part.record, elements.size());
  EXPECT_EQ(whole.status, Status::ok);
  return value_at<BitsOf<T>>(whole.values);
}

constexpr Operation operations[] = {Operation::sum, Operation::product, Operation::min, Operation::max};

template <class T>
class TreeValues : public testing::Test {};
using Floats = testing::Types<float, double>;
TYPED_TEST_SUITE(TreeValues, Floats);

/// Every sequence of one, two and three special values, and one in so many of four.
TYPED_TEST(TreeValues, OfEveryShortSequenceOfSpecialValues) {
  using T = TypeParam;
  const std::vector<T> specials = special_values<T>();
  const std::size_t step = std::getenv("STEADFOLD_FULL") != nullptr ? 1 : 37;
  for (const Operation operation : operations) {
    const auto kind = make_tree(built_in(operation, type_of<T>), 1);
    const auto builder = kind->builder();
    std::size_t sequences = 1;
    for (std::size_t length = 1; length <= 4; ++length) {
      sequences *= specials.size();
      for (std::size_t code = 0; code < sequences; code += length == 4 ? step : 1) {
        std::vector<T> elements;
        for (std::size_t i = 0, rest = code; i < length; ++i, rest /= specials.size())
          elements.push_back(specials[rest % specials.size()]);
        ASSERT_EQ(bits_of(found_bits(*kind, *builder, elements)), bits_of(expected_bits(operation, elements)))
            << arithmetic::name_of(operation) << " of sequence " << code << " of length " << length;
      }
    }
  }
}

TYPED_TEST(TreeValues, OfSpecialValuesAmongMany) {
  using T = TypeParam;
  const std::vector<T> specials = special_values<T>();
  for (const Operation operation : operations) {
    const auto kind = make_tree(built_in(operation, type_of<T>), 1);
    const auto builder = kind->builder();
    for (std::uint64_t seed = 1; seed <= 300; ++seed) {
      SCOPED_TRACE(testing::Message() << arithmetic::name_of(operation) << ", seed " << seed);
      std::mt19937_64 random(seed);
      std::vector<T> elements = wide_values<T>(random, 1 + random() % 300);
      for (std::uint64_t i = random() % 3; i < 3; ++i)
        elements[random() % elements.size()] = specials[random() % specials.size()];
      ASSERT_EQ(bits_of(found_bits(*kind, *builder, elements)), bits_of(expected_bits(operation, elements)));
    }
  }
}

TYPED_TEST(TreeValues, OfZerosAndOfNothing) {
  using T = TypeParam;
  const auto sum = make_tree(built_in(Operation::sum, type_of<T>), 1);
  const auto builder = sum->builder();
  for (const std::size_t n : {1u, 2u, 3u, 64u, 65u, 1000u}) {
    std::vector<T> zeros(n, -T{0});
    EXPECT_EQ(bits_of(found_bits(*sum, *builder, zeros)), bits_of(-T{0})) << n;
    zeros[n / 2] = T{0};
    EXPECT_EQ(bits_of(found_bits(*sum, *builder, zeros)), bits_of(T{0})) << n;
  }
  const auto of_nothing = [&](Operation operation) {
    const auto kind = make_tree(built_in(operation, type_of<T>), 2);
    return finished(*kind, built(*kind, table_of(std::vector<T>{}, 0, 2), {}).record, 0);
  };
  for (const std::size_t column : {0u, 1u}) {
    EXPECT_EQ(bits_of(value_at<T>(of_nothing(Operation::sum).values, column)), bits_of(T{0}));
    EXPECT_EQ(bits_of(value_at<T>(of_nothing(Operation::product).values, column)), bits_of(T{1}));
  }
  EXPECT_EQ(of_nothing(Operation::sum).status, Status::ok);
  EXPECT_EQ(of_nothing(Operation::min).status, Status::empty);
  EXPECT_EQ(of_nothing(Operation::max).status, Status::empty);
}

/// Every length around the sizes of blocks, in one column, where nodes are folded whole, and in three.
TYPED_TEST(TreeValues, OfEveryLength) {
  using T = TypeParam;
  std::mt19937_64 random(7);
  const std::vector<T> many = wide_values<T>(random, 3 * 1200);
  const auto one = make_tree(built_in(Operation::sum, type_of<T>), 1);
  const auto three = make_tree(built_in(Operation::sum, type_of<T>), 3);
  const auto builder = one->builder();
  for (std::size_t n = 1; n <= 1200; n += n < 300 ? 1 : 61) {
    const std::vector<T> rows(many.begin(), many.begin() + static_cast<std::ptrdiff_t>(3 * n));
    const Part wide = built(*three, table_of(rows, 0, 3), {{0, n}});
    const Finished whole = finished(*three, wide.record, n);
    for (std::size_t column = 0; column < 3; ++column) {
      std::vector<T> elements(n);
      for (std::size_t i = 0; i < n; ++i) elements[i] = rows[3 * i + column];
      const auto expected = bits_of(expected_bits(Operation::sum, elements));
      ASSERT_EQ(bits_of(value_at<BitsOf<T>>(whole.values, column)), expected) << n;
      ASSERT_EQ(bits_of(found_bits(*one, *builder, elements)), expected) << n;
    }
  }
}

/// Nodes of rows that begin anywhere, one column or strided; the control: left to right gives other bits.
TYPED_TEST(TreeValues, OfNodesFromAnyFirstIndex) {
  using T = TypeParam;
  const auto kind = make_tree(built_in(Operation::sum, type_of<T>), 1);
  std::mt19937_64 random(8);
  const std::vector<T> elements = wide_values<T>(random, 1000);
  const auto add = [](T a, T b) { return a + b; };
  for (const Index begin : {Index{1}, Index{63}, Index{64}, Index{65}, (Index{1} << 40) + 3, (Index{1} << 62) - 1}) {
    for (const std::size_t n : {1u, 5u, 8u, 62u, 64u, 65u, 127u, 128u, 200u, 999u}) {
      SCOPED_TRACE(testing::Message() << n << " from " << begin);
      const std::vector<T> first(elements.begin(), elements.begin() + static_cast<std::ptrdiff_t>(n));
      Table strided = table_of(elements, begin, 2);
      strided.row_bytes = sizeof(T);
      const Record contiguous = built(*kind, table_of(first, begin), {{begin, begin + n}}).record;
      const Record every_second = n <= 500 ? built(*kind, strided, {{begin, begin + n}}).record : Record{};
      std::size_t at = 0;
      for (const auto node : reference::nodes_from_left(begin, begin + n)) {
        const auto value = [&](std::size_t factor) {
          return bits_of(reference::tree_node(
              begin + n, node.start, node.level, [&](Index x) { return elements[factor * (x - begin)]; }, add));
        };
        ASSERT_EQ(bits_of(value_at<T>(std::span(contiguous).subspan(48), at)), value(1));
        if (n <= 500) {
          ASSERT_EQ(bits_of(value_at<T>(std::span(every_second).subspan(48), at)), value(2));
        }
        ++at;
      }
    }
  }
  EXPECT_NE(bits_of(reference::tree(elements, add)),
            bits_of(std::accumulate(elements.begin() + 1, elements.end(), elements[0])));
}

/// The merge that is the result makes NaNs canonical itself, some thousand columns at a time.
TYPED_TEST(TreeValues, OfWideRowsThatAreMergedToTheResult) {
  using T = TypeParam;
  constexpr std::size_t columns = 5000;
  const auto kind = make_tree(built_in(Operation::sum, type_of<T>), columns);
  std::mt19937_64 random(12);
  std::vector<T> rows = wide_values<T>(random, 2 * columns);
  for (const std::size_t at : {0u, 1023u, 1024u, 2047u, 2048u, 4095u, 4096u, 4999u})
    rows[at] = std::bit_cast<T>(~BitsOf<T>{0});
  const Table table = table_of(rows, 0, columns);
  const Record upper = built(*kind, table, {{1, 2}}).record;
  const Record lower = built(*kind, table, {{0, 1}}).record;
  Guarded head(128);
  Guarded values(kind->value_bytes());
  const auto merged = kind->values_apart()->merge_to_result(
      with_values_apart(*kind, upper), with_values_apart(*kind, lower), head.room(), values.data());
  ASSERT_TRUE(merged);
  EXPECT_EQ(status_of(merged->head), Status::ok);
  const Record found = values.taken(kind->value_bytes());
  for (std::size_t i = 0; i < columns; ++i)
    ASSERT_EQ(bits_of(value_at<BitsOf<T>>(found, i)), bits_of(canonical_bits(rows[i] + rows[columns + i]))) << i;
}

template <class T>
int add_elements(const void* left, const void* right, void* result, std::size_t count, void* /*context*/) {
  for (std::size_t i = 0; i < count; ++i)
    static_cast<T*>(result)[i] = static_cast<const T*>(left)[i] + static_cast<const T*>(right)[i];
  return 0;
}

TYPED_TEST(TreeValues, AreTheSameFromAUserOperatorThatAdds) {
  using T = TypeParam;
  const Operator op{.apply = add_elements<T>, .element_bytes = sizeof(T)};
  const auto users = make_tree(op, 1);
  const auto ours = make_tree(built_in(Operation::sum, type_of<T>), 1);
  std::mt19937_64 random(9);
  const Table table = table_of(wide_values<T>(random, 1000));
  for (Index begin = 0; begin < 70; ++begin) {
    for (const Index end : {Index{70}, Index{128}, Index{513}, Index{1000}}) {
      ASSERT_TRUE(same(built(*users, table, {{begin, end}}).record, built(*ours, table, {{begin, end}}).record))
          << begin << " to " << end;
    }
  }
}

template <class T>
class TreeIntegers : public testing::Test {};
using Integers = testing::Types<std::int32_t, std::int64_t, std::uint32_t, std::uint64_t>;
TYPED_TEST_SUITE(TreeIntegers, Integers);

/// Integers wrap around, so that any order gives what unsigned arithmetic gives from left to right.
TYPED_TEST(TreeIntegers, WrapAroundAndHaveNoOrder) {
  using T = TypeParam;
  using U = std::make_unsigned_t<T>;
  std::mt19937_64 random(10);
  for (const std::size_t n : {1u, 2u, 9u, 64u, 65u, 700u}) {
    std::vector<T> elements(n);
    for (T& x : elements) x = random() % 5 == 0 ? std::numeric_limits<T>::min() : static_cast<T>(random());
    U sum = 0;
    U product = 1;
    T least = elements[0];
    T most = elements[0];
    for (const T x : elements) {
      sum += static_cast<U>(x);
      product *= static_cast<U>(x);
      least = x < least ? x : least;
      most = x > most ? x : most;
    }
    const U expected[] = {sum, product, static_cast<U>(least), static_cast<U>(most)};
    for (const Operation operation : operations) {
      const auto kind = make_tree(built_in(operation, type_of<T>), 1);
      const Part part = built(*kind, table_of(elements), {{n / 3, n}, {0, n / 3}});
      EXPECT_EQ(value_at<U>(finished(*kind, part.record, n).values), expected[static_cast<std::size_t>(operation)])
          << arithmetic::name_of(operation) << " of " << n;
    }
  }
}

}  // namespace
}  // namespace steadfold::test::tree_values_test
