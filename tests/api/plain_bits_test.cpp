// What method plain gives, printed: kernels/targets.py compares the lines of all instruction sets of the machine.
// Golden values have plain where it is order-free alone, for its other bits may change with a release.
#include <gtest/gtest.h>

#include <cstdio>
#include <set>

#include "support/golden.hpp"

namespace steadfold::golden::plain_bits_test {
namespace {

const std::vector<std::string> operations = {"sum",        "product",      "min",          "max",    "abs_sum",
                                             "masked_sum", "min_location", "max_location", "norminf"};

/// Types of elements, and of their results.
const std::vector<std::pair<std::string, std::string>> types = {
    {"f64", "f64"},   {"f32", "f32"}, {"f32", "f64"}, {"bf16", "f32"},  {"bf16", "f64"},
    {"f16", "f32"},   {"f16", "f64"}, {"i32", "i32"}, {"i32", "i64"},   {"i64", "i64"},
    {"u32", "u32"},   {"u32", "u64"}, {"u64", "u64"}, {"cf32", "cf32"}, {"cf32", "cf64"},
    {"cf64", "cf64"}, {"x87", "x87"}, {"f64", "x87"}, {"b128", "b128"},
};

/// FNV-1a over all bytes.
std::uint64_t fingerprint(const Bytes& bytes) {
  std::uint64_t hash = 0xCBF29CE484222325;
  for (const std::byte each : bytes) hash = (hash ^ std::to_integer<std::uint64_t>(each)) * 0x100000001B3;
  return hash;
}

/// A line for the reduction, if plain serves it.
bool print(const Record& record) {
  Bytes first;
  Bytes second;
  for (std::uint64_t row = 0; row < record.rows; ++row) {
    record.append_row(first, row);
    if (record.has_second()) record.append_row(second, row, true);
  }
  sf_call call = call_of(record, method_of("plain"));
  call.rows = record.rows;
  Bytes result(record.columns * record.value_bytes());
  const sf_status status =
      sf_reduce_local(&call, first.data(), record.has_second() ? second.data() : nullptr, result.data());
  if (status == SF_UNSUPPORTED) return false;
  EXPECT_EQ(status, SF_OK) << sf_error_text();
  clear_gaps(record, result.data(), result.size());
  std::printf("plain %s %s to %s, %s, %llu x %llu: %016llX\n", record.operation.c_str(), record.type.c_str(),
              record.result.c_str(), record.family.c_str(), static_cast<unsigned long long>(record.rows),
              static_cast<unsigned long long>(record.columns), static_cast<unsigned long long>(fingerprint(result)));
  return true;
}

/// One column, a few, and more than the widest vector has lanes; rows in which every order shows.
TEST(PlainBits, ArePrintedForOtherTargets) {
  std::set<std::string> printed;
  for (const auto& [type, result] : types) {
    for (const std::string& operation : operations) {
      for (const std::uint64_t rows : {1u, 2u, 9u, 700u}) {
        for (const std::uint64_t columns : {1u, 3u, 37u}) {
          Record record;
          record.operation = operation;
          record.type = type;
          record.result = result;
          record.family = shape_of(type).format ? "wide" : "any";
          record.rows = rows;
          record.columns = columns;
          if (record.runs_here() && print(record)) printed.insert(operation + " " + type + " " + result);
        }
      }
    }
  }
  for (const std::string sum : {"sum f64 f64", "sum f32 f32", "sum f32 f64", "sum f16 f32", "sum cf64 cf64"})
    EXPECT_TRUE(printed.contains(sum)) << sum;
  EXPECT_GT(printed.size(), 60u);
}

}  // namespace
}  // namespace steadfold::golden::plain_bits_test
