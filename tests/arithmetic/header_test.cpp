// Headers that arrive damaged: whatever number stands for the status, what comes out is one of those there are.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

#include "arithmetic/exact/exact.hpp"
#include "arithmetic/operator.hpp"
#include "arithmetic/partial.hpp"
#include "arithmetic/plain.hpp"
#include "arithmetic/tree/tree.hpp"

namespace steadfold::arithmetic::header_test {
namespace {

using Record = std::vector<std::byte>;

constexpr std::uint32_t no_status[] = {10, 11, 99, 0x80000000u, 0xDEADBEEFu, std::numeric_limits<std::uint32_t>::max()};

Record with_status(Record record, std::uint32_t number) {
  std::memcpy(record.data(), &number, sizeof number);
  return record;
}

TEST(DamagedHeader, CountsAsALostMessage) {
  for (const std::uint32_t number : no_status)
    EXPECT_EQ(header_of(with_status(Record(sizeof(Header)), number)).status, Status::transport_failed) << number;
  for (std::uint32_t number = 0; number <= static_cast<std::uint32_t>(Status::internal); ++number)
    EXPECT_EQ(header_of(with_status(Record(sizeof(Header)), number)).status, static_cast<Status>(number));
}

TEST(DamagedHeader, EndsInAKnownStatusForEveryKindOfPartial) {
  const Operator& add = built_in(Operation::sum, Type::f64);
  const std::unique_ptr<PartialKind> kinds[] = {make_tree(add, 1), make_plain(add, 1),
                                                make_exact(Operation::sum, Type::f64, Type::f64, 1)};
  const double one = 1;
  for (const auto& kind : kinds) {
    Record good(kind->working_capacity(order::IntervalSet({0, 1})));
    const auto builder = kind->builder();
    builder->push(0, {.first = reinterpret_cast<const std::byte*>(&one), .rows = 1, .row_stride = sizeof one});
    good.resize(builder->write(good));
    Record out(4096);
    std::byte values[16];
    ASSERT_EQ(kind->finish(good, unknown_count, values, values + 8), Status::ok) << "what is not damaged";
    for (const std::uint32_t number : no_status) {
      const Record damaged = with_status(good, number);
      EXPECT_EQ(kind->finish(damaged, unknown_count, values, values + 8), Status::transport_failed) << number;
      for (const auto& [left, right] : {std::pair(damaged, good), std::pair(good, damaged)}) {
        const Bytes size = merge(*kind, left, right, out);
        EXPECT_EQ(header_of(std::span(out).first(size)).status, Status::transport_failed) << number;
      }
    }
  }
}

}  // namespace
}  // namespace steadfold::arithmetic::header_test
