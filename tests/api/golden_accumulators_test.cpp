// The recorded bytes of accumulators, which a second program computed: of every record by additions in order and out of
// order, and read back. On AArch64 and on s390x, too.
#include <gtest/gtest.h>

#include <memory>

#include "steadfold/steadfold_accumulator.h"
#include "support/golden.hpp"
#include "support/hex.hpp"

namespace steadfold::test::golden_accumulators_test {
namespace {

using golden::Bytes;

struct Record {
  std::string where, terms, type, family;
  std::uint64_t added = 0;
  std::uint64_t subtracted = 0;
  std::uint64_t columns = 0;
  Bytes bytes;

  bool has_products() const { return terms == "products"; }
  Bytes rows(std::uint64_t begin, std::uint64_t end, bool second) const {
    const golden::Shape shape = golden::shape_of(type);
    Bytes all;
    for (std::uint64_t row = begin; row < end; ++row)
      for (std::uint64_t column = 0; column < columns; ++column)
        golden::append(all, golden::float_bits(*shape.format, family, row, column, second), shape);
    return all;
  }
};

std::vector<Record> records() {
  std::ifstream stream(tests::directory() + "/golden/accumulators.txt");
  std::vector<Record> all;
  for (std::string line; std::getline(stream, line);) {
    Record record;
    std::istringstream words(line);
    char mark = 0;
    std::string text;
    words >> record.terms >> record.type >> record.family >> record.added >> mark >> record.subtracted >> mark >>
        record.columns >> text;
    EXPECT_TRUE(words) << line;
    record.where = "accumulators.txt:" + std::to_string(all.size() + 1);
    for (std::size_t i = 0; i < text.size(); i += 2)
      record.bytes.push_back(static_cast<std::byte>(golden::bits_of(text.substr(i, 2))));
    all.push_back(record);
  }
  return all;
}

struct Free {
  void operator()(sf_accumulator* accumulator) const { sf_accumulator_free(accumulator); }
};
using Accumulator = std::unique_ptr<sf_accumulator, Free>;

Accumulator make(const Record& record) {
  sf_accumulator* made = nullptr;
  EXPECT_EQ(sf_accumulator_create(*golden::shape_of(record.type).type,
                                  record.has_products() ? SF_PRODUCTS : SF_ELEMENTS, record.columns, &made),
            SF_OK);
  return Accumulator(made);
}

/// Adds or subtracts rows begin, ..., end - 1.
void change(const Record& record, sf_accumulator* accumulator, std::uint64_t begin, std::uint64_t end, bool adds) {
  const Bytes x = record.rows(begin, end, false);
  const Bytes y = record.rows(begin, end, true);
  sf_status status = SF_OK;
  if (record.has_products()) {
    const auto function = adds ? sf_accumulator_add_products : sf_accumulator_subtract_products;
    status = function(accumulator, x.data(), y.data(), end - begin, 1);
  } else {
    const auto function = adds ? sf_accumulator_add : sf_accumulator_subtract;
    status = function(accumulator, x.data(), end - begin, 1);
  }
  EXPECT_EQ(status, SF_OK) << sf_error_text();
}

void expect_bytes(const Record& record, const sf_accumulator* accumulator) {
  std::uint64_t size = 0;
  ASSERT_EQ(sf_accumulator_write(accumulator, nullptr, 0, &size), SF_OK);
  Bytes found(size);
  ASSERT_EQ(sf_accumulator_write(accumulator, found.data(), size, &size), SF_OK);
  EXPECT_EQ(hex(found), hex(record.bytes)) << record.where;
}

TEST(AccumulatorsGolden, HaveTheRecordedBytes) {
  const auto all = records();
  for (const Record& record : all) {
    const std::uint64_t rows = record.added + record.subtracted;
    const Accumulator in_order = make(record);
    change(record, in_order.get(), 0, record.added, true);
    change(record, in_order.get(), record.added, rows, false);
    expect_bytes(record, in_order.get());
    const Accumulator backwards = make(record);
    for (std::uint64_t row = rows; row-- > 0;) change(record, backwards.get(), row, row + 1, row < record.added);
    expect_bytes(record, backwards.get());
    sf_accumulator* read = nullptr;
    ASSERT_EQ(sf_accumulator_read(record.bytes.data(), record.bytes.size(), &read), SF_OK) << sf_error_text();
    const Accumulator loaded(read);
    expect_bytes(record, loaded.get());
    if (testing::Test::HasFailure()) return;  // the first is enough
  }
  std::printf("golden bytes of accumulators: %zu records compared\n", all.size());
  EXPECT_GE(all.size(), 70u);
}

}  // namespace
}  // namespace steadfold::test::golden_accumulators_test
