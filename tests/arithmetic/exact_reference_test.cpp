// Exact values against sums by MPFR, bit for bit, for every type and operation.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "exact_records.hpp"

#ifdef STEADFOLD_HAVE_MPFR
#include "arithmetic/mpfr.hpp"
#include "support/sanitized.hpp"

namespace steadfold::arithmetic::exact_reference_test {
namespace {

using namespace exact_records;

template <class Element, class Result>
Record reference_values(Operation operation, const Data<Element>& data) {
  Record values;
  for (Count column = 0; column < data.columns; ++column) {
    reference::ExactSum sum;
    for (Count row = 0; row < data.rows(); ++row) {
      const Element x = data.first[row * data.columns + column];
      const Element y = data.second[row * data.columns + column];
      if (sums_products(operation))
        sum.add_product(x, operation == Operation::dot ? y : x);
      else
        sum.add(operation == Operation::abs_sum ? std::abs(x) : x);
    }
    const auto result = operation == Operation::norm2 ? sum.rounded_root<Result>() : sum.rounded<Result>();
    const auto* bytes = reinterpret_cast<const std::byte*>(&result);
    values.insert(values.end(), bytes, bytes + sizeof result);
  }
  return values;
}

template <class Element, class Result>
void expect_reference_values(std::uint64_t seed) {
  for (const Operation operation : operations) {
    for (const Count columns : {1U, 3U, 140U}) {
      SCOPED_TRACE(testing::Message() << "seed " << seed << ", operation " << static_cast<int>(operation) << ", "
                                      << columns << " columns, from " << sizeof(Element) << " to " << sizeof(Result)
                                      << " bytes");
      std::mt19937_64 random(seed);
      const auto kind = make_exact(operation, type_of<Element>, type_of<Result>, columns);
      const auto data = hostile_data<Element>(random, random() % (columns > 5 ? 8 : 100), columns, seed % 2 == 0);
      const Record record = merged_at_random(*kind, split(*kind, data, random, random() % 10 + 1), random);
      EXPECT_EQ(hex(finished(*kind, record, data.rows())), hex(reference_values<Element, Result>(operation, data)));
      if (testing::Test::HasFailure()) return;
    }
  }
}

TEST(ExactReference, AgreesForEveryTypeAndOperation) {
  for (std::uint64_t seed = 1; seed <= 100; seed += test::sanitized ? 5 : 1) {
    expect_reference_values<double, double>(seed);
    expect_reference_values<double, float>(seed);
    expect_reference_values<float, double>(seed);
    expect_reference_values<float, float>(seed);
    if (testing::Test::HasFailure()) return;
  }
}

TEST(ExactReference, AgreesOnAMillionRows) {
  std::mt19937_64 random(13);
  const auto data = hostile_data<double>(random, (1U << 20) + 3, 1, false);
  for (const Operation operation : {Operation::sum, Operation::dot}) {
    const auto kind = make_exact(operation, Type::f64, Type::f64, 1);
    const Record record = merged_at_random(*kind, split(*kind, data, random, 5), random);
    EXPECT_EQ(hex(record), hex(whole(*kind, data)));
    EXPECT_EQ(hex(finished(*kind, record)), hex(reference_values<double, double>(operation, data)));
  }
}

}  // namespace
}  // namespace steadfold::arithmetic::exact_reference_test

#endif
