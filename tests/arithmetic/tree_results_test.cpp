// Means by method tree of so many floats that no test could read them: partials are written here. The oracle divides
// integers.
#include "arithmetic/tree/results.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include "arithmetic/tree/record.hpp"
#include "arithmetic/tree/tree.hpp"
#include "order/index.hpp"

namespace steadfold::test::tree_results_test {
namespace {

using namespace arithmetic;

constexpr int digits = 24;
__extension__ using Wide = unsigned __int128;

/// A float `integer` x 2^exponent and the same divided by `count`, rounded once.
struct Division {
  std::uint64_t integer;  // of 24 bits
  int exponent;
  Count count;

  float dividend() const { return std::ldexp(static_cast<float>(integer), exponent); }
  float quotient() const {
    constexpr int shift = 90;
    const Wide numerator = static_cast<Wide>(integer) << shift;
    Wide whole = numerator / count;
    bool is_more = numerator % count != 0;
    int dropped = 0;
    for (; whole >> (digits + 1) != 0; whole >>= 1, ++dropped) is_more = is_more || (whole & 1) != 0;
    const bool is_up = (whole & 1) != 0 && (is_more || (whole & 2) != 0);  // the last bit is half a unit
    const auto kept = static_cast<float>(static_cast<std::uint64_t>(whole >> 1) + (is_up ? 1 : 0));
    return std::ldexp(kept, dropped + 1 - shift + exponent);
  }
};

/// The record of all rows: the first node has the sum, the others have zeros.
std::vector<std::byte> record_of(const Division& division) {
  const order::Interval rows{0, division.count};
  const Count nodes = order::node_count(rows);
  std::vector<std::byte> bytes(tree_record::record_bytes(1, nodes, sizeof(float)));
  const Bytes head = tree_record::write_head(bytes, {}, std::span(&rows, 1), nodes);
  const float sum = division.dividend();
  std::memcpy(bytes.data() + head, &sum, sizeof sum);
  return bytes;
}

float mean_of(const Division& division) {
  const Operator& sum = built_in(Operation::sum, Type::f32);
  const auto kind = make_tree_result(make_tree(sum, 1), Operation::mean, Type::f32, 1);
  float value = -1;
  float spare = 0;
  const std::vector<std::byte> record = record_of(division);
  EXPECT_EQ(kind->finish(std::span(record), unknown_count, reinterpret_cast<std::byte*>(&value),
                         reinterpret_cast<std::byte*>(&spare)),
            Status::ok);
  return value;
}

/// Quotients close to the middle between two floats, which the nearest double often is.
TEST(TreeResults, MeansOfFloatsAreRoundedOnce) {
  std::mt19937_64 random(2711);
  int differences = 0;  // from the quotient of doubles, rounded again
  for (int i = 0; i < 4000; ++i) {
    Division division{.integer = (random() >> 40) | (std::uint64_t{1} << (digits - 1)), .exponent = 0, .count = 0};
    const std::uint64_t middle = (random() >> 39) | (std::uint64_t{1} << digits) | 1;
    const auto scaled = static_cast<Wide>(division.integer) << 53;
    division.count = static_cast<Count>((scaled + middle / 2) / middle);
    division.exponent = static_cast<int>(random() % 100) - 20;
    const float expected = division.quotient();
    const double in_doubles = static_cast<double>(division.dividend()) / static_cast<double>(division.count);
    differences += static_cast<float>(in_doubles) != expected;
    ASSERT_EQ(mean_of(division), expected) << division.integer << " / " << division.count;
  }
  EXPECT_GT(differences, 20) << "the control";
}

}  // namespace
}  // namespace steadfold::test::tree_results_test
