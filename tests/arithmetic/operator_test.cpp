// The built-in operators element by element: IEEE 754-2019 minimum and maximum, wrap-around, folds of blocks, flags.
#include "arithmetic/operator.hpp"

#include <gtest/gtest.h>

#include <array>

#include "arithmetic/ieee.hpp"
#include "arithmetic/records.hpp"
#include "order/recursion.hpp"

namespace steadfold::test::operator_test {
namespace {

using arithmetic::built_in;
using arithmetic::Operation;
using arithmetic::Operator;
using arithmetic::Type;

constexpr Operation operations[] = {Operation::sum, Operation::product, Operation::min, Operation::max};
constexpr Type types[] = {Type::f64, Type::f32, Type::i32, Type::i64, Type::u32, Type::u64};

template <class T>
T applied(Operation operation, T a, T b) {
  const Operator& op = built_in(operation, type_of<T>);
  T result{};
  EXPECT_EQ(op.apply(&a, &b, &result, 1, op.context), 0);
  EXPECT_EQ(op.apply(&a, &b, &a, 1, op.context), 0);  // the result may be left's memory
  EXPECT_EQ(bits_of(a), bits_of(result));
  return result;
}

template <class T>
T finished_bits(Operation operation, T value) {
  built_in(operation, type_of<T>).canonicalise(&value, 1);
  return value;
}

template <class T>
class FloatOperators : public testing::Test {};
using Floats = testing::Types<float, double>;
TYPED_TEST_SUITE(FloatOperators, Floats);

TYPED_TEST(FloatOperators, MinimumAndMaximumAreThoseOfTheStandard) {
  using T = TypeParam;
  std::vector<T> values = special_values<T>();
  std::mt19937_64 random(1);
  for (int i = 0; i < 100; ++i) values.push_back(std::bit_cast<T>(static_cast<BitsOf<T>>(random())));
  for (const T a : values) {
    for (const T b : values) {
      for (const Operation operation : {Operation::min, Operation::max}) {
        const BitsOf<T> expected =
            extreme<T>(std::bit_cast<BitsOf<T>>(a), std::bit_cast<BitsOf<T>>(b), operation == Operation::min);
        ASSERT_EQ(bits_of(applied(operation, a, b)), bits_of(expected))
            << arithmetic::name_of(operation) << " of " << bits_of(a) << " and " << bits_of(b);
      }
    }
  }
}

TYPED_TEST(FloatOperators, SumsAndProductsAreTheMachines) {
  using T = TypeParam;
  for (const T a : special_values<T>()) {
    for (const T b : special_values<T>()) {
      ASSERT_EQ(canonical_bits(applied(Operation::sum, a, b)), canonical_bits(a + b))
          << bits_of(a) << " " << bits_of(b);
      ASSERT_EQ(canonical_bits(applied(Operation::product, a, b)), canonical_bits(a * b))
          << bits_of(a) << " " << bits_of(b);
    }
  }
}

TYPED_TEST(FloatOperators, EveryNanBecomesTheCanonicalOneAndNothingElseChanges) {
  using T = TypeParam;
  for (const Operation operation : operations) {
    for (const T x : special_values<T>()) EXPECT_EQ(bits_of(finished_bits(operation, x)), bits_of(canonical_bits(x)));
    std::vector<T> many = special_values<T>();
    built_in(operation, type_of<T>).canonicalise(many.data(), many.size());
    for (std::size_t i = 0; i < many.size(); ++i)
      EXPECT_EQ(bits_of(many[i]), bits_of(canonical_bits(special_values<T>()[i])));
  }
}

/// Subnormals are kept, infinities and overflow are IEEE's.
TEST(FloatSums, KeepSubnormalsAndOverflowToInfinity) {
  EXPECT_EQ(bits_of(applied(Operation::sum, 0x1p-1074, 0x1p-1074)), bits_of(0x1p-1073));
  EXPECT_EQ(bits_of(applied(Operation::sum, 0x1p-1022, -0x1p-1074)), "000FFFFFFFFFFFFF");
  EXPECT_EQ(bits_of(applied(Operation::product, 0x1p-600, 0x1p-470)), bits_of(0x1p-1070));
  EXPECT_EQ(bits_of(applied(Operation::sum, 0x1.fffffffffffffp1023, 0x1.fffffffffffffp1023)), "7FF0000000000000");
  EXPECT_EQ(bits_of(applied(Operation::sum, 0x1p-149f, 0x1p-149f)), bits_of(0x1p-148f));
}

template <class T>
class IntegerOperators : public testing::Test {};
using Integers = testing::Types<std::int32_t, std::int64_t, std::uint32_t, std::uint64_t>;
TYPED_TEST_SUITE(IntegerOperators, Integers);

__extension__ typedef unsigned __int128 Wide;

/// Modulo 2^128 first, whose lowest bits are those modulo any smaller power of two.
TYPED_TEST(IntegerOperators, WrapAround) {
  using T = TypeParam;
  using Limits = std::numeric_limits<T>;
  std::vector<T> values = {T{0},
                           T{1},
                           static_cast<T>(-1),
                           Limits::min(),
                           Limits::max(),
                           static_cast<T>(Limits::max() - 1),
                           static_cast<T>(Limits::min() + 1)};
  std::mt19937_64 random(2);
  for (int i = 0; i < 50; ++i) values.push_back(static_cast<T>(random()));
  for (const T a : values) {
    for (const T b : values) {
      ASSERT_EQ(applied(Operation::sum, a, b), static_cast<T>(static_cast<Wide>(a) + static_cast<Wide>(b)));
      ASSERT_EQ(applied(Operation::product, a, b), static_cast<T>(static_cast<Wide>(a) * static_cast<Wide>(b)));
      ASSERT_EQ(applied(Operation::min, a, b), b < a ? b : a);
      ASSERT_EQ(applied(Operation::max, a, b), b > a ? b : a);
    }
  }
}

// --- folds of blocks
// ---------------------------------------------------------------------------------------------------

template <class T>
std::vector<T> some_values(std::mt19937_64& random, std::size_t count) {
  if constexpr (std::is_floating_point_v<T>) {
    std::vector<T> values = wide_values<T>(random, count);
    const std::vector<T> specials = special_values<T>();
    if (random() % 4 == 0) values[random() % count] = specials[random() % specials.size()];
    return values;
  } else {
    std::vector<T> values(count);
    for (T& x : values) x = static_cast<T>(random());
    return values;
  }
}

template <class T>
auto final_bits(T value) {
  if constexpr (std::is_floating_point_v<T>)
    return canonical_bits(value);
  else
    return value;
}

template <class T>
void expect_folds() {
  std::mt19937_64 random(3);
  for (const Operation operation : operations) {
    const Operator& op = built_in(operation, type_of<T>);
    const auto one = [&](T a, T b) { return applied(operation, a, b); };
    for (int level = 0; level <= 9; ++level) {
      const std::vector<T> elements = some_values<T>(random, std::size_t{1} << level);
      T result{};
      ASSERT_EQ(op.fold(elements.data(), 0, elements.size(), &result), 1u);
      ASSERT_EQ(final_bits(result), final_bits(reference::tree(elements, one)))
          << arithmetic::name_of(operation) << " at level " << level;
    }
    for (std::size_t count = 1; count <= 70; ++count) {
      const std::vector<T> elements = some_values<T>(random, count);
      T expected = elements[0];
      for (std::size_t i = 1; i < count; ++i) expected = one(expected, elements[i]);
      T result{};
      op.fold_left(elements.data(), count, &result);
      ASSERT_EQ(final_bits(result), final_bits(expected)) << arithmetic::name_of(operation) << " of " << count;
    }
  }
}

TEST(Folds, AreTheOperatorAppliedInTheirOrder) {
  expect_folds<double>();
  expect_folds<float>();
  expect_folds<std::int32_t>();
  expect_folds<std::int64_t>();
  expect_folds<std::uint32_t>();
  expect_folds<std::uint64_t>();
}

TEST(Operators, SayWhatTheyAre) {
  for (const Type type : types) {
    const bool floating = type == Type::f64 || type == Type::f32;
    for (const Operation operation : operations) {
      const Operator& op = built_in(operation, type);
      const bool has_neutral = operation == Operation::sum || operation == Operation::product;
      EXPECT_EQ(op.element_bytes, arithmetic::size_of(type));
      EXPECT_TRUE(op.commutative);
      EXPECT_EQ(op.order_free, !floating || !has_neutral);
      EXPECT_EQ(op.idempotent, !has_neutral);
      EXPECT_EQ(op.canonicalise != nullptr, floating);
      EXPECT_EQ(op.of_nothing != nullptr, has_neutral);
      EXPECT_EQ(&op, &built_in(operation, type));
    }
  }
  EXPECT_EQ(arithmetic::size_of(Type::bytes), 0u);
  EXPECT_EQ(arithmetic::size_of(Type::f16), 2u);
  EXPECT_EQ(arithmetic::size_of(Type::cf32), 8u);
  EXPECT_EQ(arithmetic::size_of(Type::cf64), 16u);
}

TEST(Operators, OfNothingAreZeroAndOne) {
  std::array<double, 3> doubles;
  doubles.fill(7);
  built_in(Operation::sum, Type::f64).of_nothing(doubles.data(), 2);
  EXPECT_EQ(bits_of(doubles[0]), "0000000000000000");
  EXPECT_EQ(bits_of(doubles[1]), "0000000000000000");
  EXPECT_EQ(bits_of(doubles[2]), bits_of(7.0));
  built_in(Operation::product, Type::f64).of_nothing(doubles.data(), 1);
  EXPECT_EQ(bits_of(doubles[0]), bits_of(1.0));
  std::int32_t integer = 7;
  built_in(Operation::sum, Type::i32).of_nothing(&integer, 1);
  EXPECT_EQ(integer, 0);
  built_in(Operation::product, Type::i32).of_nothing(&integer, 1);
  EXPECT_EQ(integer, 1);
}

TEST(Operators, HaveNames) {
  EXPECT_EQ(arithmetic::name_of(Type::f64), "f64");
  EXPECT_EQ(arithmetic::name_of(Type::u64), "u64");
  EXPECT_EQ(arithmetic::name_of(Type::bytes), "bytes");
  EXPECT_EQ(arithmetic::name_of(Type::bf16), "bf16");
  EXPECT_EQ(arithmetic::name_of(Type::cf64), "cf64");
  EXPECT_EQ(arithmetic::name_of(Operation::sum), "sum");
  EXPECT_EQ(arithmetic::name_of(Operation::max), "max");
  EXPECT_EQ(arithmetic::name_of(Operation::user), "user");
  EXPECT_EQ(arithmetic::name_of(Operation::norm2), "norm2");
}

}  // namespace
}  // namespace steadfold::test::operator_test
