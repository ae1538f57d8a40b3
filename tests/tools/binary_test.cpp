// binpsllh and raw: what they hold is read back bit by bit, and sizes that do not fit are faults.
#include <limits>

#include "scratch.hpp"

namespace steadfold::readers::testing::binary_test {
namespace {

std::vector<double> many(std::size_t n) {
  std::vector<double> values;
  for (std::size_t i = 0; i < n; ++i) values.push_back(1.0 / static_cast<double>(i + 1));
  return values;
}

TEST(Binpsllh, EveryPartOnce) {
  for (const std::size_t n : {0U, 1U, 2U, 7U, 8U, 100U}) {
    const Scratch file(".binpsllh", binpsllh(many(n)));
    expect_bits(file.path(), many(n));
  }
}

TEST(Binpsllh, AnyBitsAreValues) {
  std::vector<double> values = hostile_values();
  for (const std::uint64_t bits : {0x7FF8000000000001U, 0xFFF0000000000001U, 0x7FF0000000000000U, 0xFFF0000000000000U})
    values.push_back(std::bit_cast<double>(bits));
  const Scratch file(".binpsllh", binpsllh(values));
  expect_bits(file.path(), values);
}

TEST(Binpsllh, IsKnownByItsContent) {
  const Scratch file(".data", binpsllh(many(5)));
  EXPECT_EQ(open(file.path())->format(), Format::binpsllh);
  expect_bits(file.path(), many(5));
}

TEST(Binpsllh, SizesThatDoNotFit) {
  const std::string good = binpsllh(many(3));
  expect_fault_in(".binpsllh", "", {"empty"});
  expect_fault_in(".binpsllh", good.substr(0, 7), {"truncated", "is 7)"});
  for (std::size_t size = 8; size < good.size(); ++size) {
    const std::string found = std::to_string(size - 8);
    expect_fault_in(".binpsllh", good.substr(0, size), {"truncated", "3 elements of 8 bytes", found + " bytes follow"});
  }
  expect_fault_in(".binpsllh", good + "x", {"too long", "3 elements", "25 bytes follow"});
  expect_fault_in(".binpsllh", good + bytes_of(many(1)), {"too long", "32 bytes follow"});
}

TEST(Binpsllh, CountsThatNoMemoryHolds) {
  constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  // (2^61 + 3) * 8 is 24 again in 64 bits.
  for (const std::uint64_t count :
       {(std::uint64_t{1} << 61) + 3, std::uint64_t{1} << 40, std::uint64_t{1} << 60, most / 2})
    expect_fault_in(".binpsllh", bytes_of(count, 8) + bytes_of(many(3)), {"truncated", std::to_string(count)});
  expect_fault_in(".binpsllh", bytes_of(most, 8) + bytes_of(many(3)), {"count of -1"});
  expect_fault_in(".binpsllh", bytes_of(3, 8, std::endian::big) + bytes_of(many(3)), {"truncated"});
}

TEST(Binpsllh, AsksForNothingElse) {
  expect_fault_in(".binpsllh", binpsllh(many(2)), {"f64, not f32"}, {.type = Type::f32});
  expect_fault_in(".binpsllh", binpsllh(many(2)), {"no table", "leave out --column"}, {.column = "x"});
}

TEST(Raw, EveryPartOnce) {
  const Scratch file(".raw", bytes_of(many(19)));
  expect_bits(file.path(), many(19));
  EXPECT_EQ(open(file.path())->type(), Type::f64);
}

TEST(Raw, Floats) {
  const std::vector<float> values = {0.1F, -0.0F, 1e-45F, 3.4028235e38F, 7.0F};
  const Scratch file(".raw", bytes_of(values));
  expect_bits(file.path(), values, {.type = Type::f32});
}

TEST(Raw, SizesThatDoNotFit) {
  expect_fault_in(".raw", "", {"empty"});
  expect_fault_in(".raw", bytes_of(many(2)) + "abc", {"truncated", "19 bytes"});
  expect_fault_in(".raw", "abcdef", {"truncated", "6 bytes", "f32"}, {.type = Type::f32});
}

/// Records as gfortran and ifort write them: of any lengths, also empty, and a record in two parts.
TEST(Raw, FortranRecords) {
  const std::vector<double> values = hostile_values();
  for (const std::endian order : {std::endian::little, std::endian::big}) {
    for (const std::size_t width : {4U, 8U}) {
      for (const std::size_t most : {1U, 3U, 1000U}) {
        std::string content;
        std::vector<double> left = values;
        for (std::size_t record = 0; !left.empty(); ++record) {
          const std::size_t count = std::min(record % 3 == 0 ? most : record % 3 - 1, left.size());
          const std::string length = bytes_of(8 * count, width, order);
          const auto end = left.begin() + static_cast<std::ptrdiff_t>(count);
          content += length + bytes_of(std::vector<double>(left.begin(), end), order) + length;
          left.erase(left.begin(), end);
        }
        const Scratch file(".raw", content);
        expect_bits(file.path(), values, {.byte_order = order, .has_fortran_records = true});
      }
    }
  }
  // A part of a record of 2 GiB has a negative length before it if more follows, and behind it if more came before.
  const std::string first = bytes_of(values), length = bytes_of(first.size(), 4);
  const std::string negative = bytes_of((std::uint64_t{1} << 32) - first.size(), 4);
  const Scratch parts(".raw", negative + first + length + length + first + negative);
  std::vector<double> twice = values;
  twice.insert(twice.end(), values.begin(), values.end());
  expect_bits(parts.path(), twice, {.has_fortran_records = true});
  const Options options{.format = Format::raw, .has_fortran_records = true};
  expect_fault_in(".raw", length + first + length + bytes_of(std::vector<double>{1.5, 2}),
                  {"record 2", "byte " + std::to_string(first.size() + 8)}, options);
  expect_fault_in(".raw", length + first + length + bytes_of(std::uint64_t{8}, 4), {"record 2"}, options);
  expect_fault_in(".raw", first, {"does not begin with a Fortran record", "--byte-order"}, options);
  expect_fault_in(".raw", bytes_of(std::uint64_t{4}, 4) + "1234" + bytes_of(std::uint64_t{4}, 4),
                  {"record 1, at byte 0, has 4 bytes, which is not a multiple of 8"}, options);
  const std::string two =
      bytes_of(std::uint64_t{8}, 4) + bytes_of(std::vector<double>{1.5}) + bytes_of(std::uint64_t{8}, 4);
  const std::string empty(8, '\0');  // both lengths of a record without data
  const Scratch empties(".raw", empty + two + empty + empty + two + empty);
  expect_bits(empties.path(), std::vector<double>{1.5, 1.5}, options);
  // A double may lie in two parts of a record, as in gfortran's records of 2 GiB.
  const std::string halves = bytes_of(std::vector<double>{1.5, -2.5});
  const Scratch split(".raw", bytes_of((std::uint64_t{1} << 32) - 5, 4) + halves.substr(0, 5) + bytes_of(5, 4) +
                                  bytes_of(11, 4) + halves.substr(5) + bytes_of((std::uint64_t{1} << 32) - 11, 4));
  expect_bits(split.path(), std::vector<double>{1.5, -2.5}, options);
  expect_fault_in(".psllh", "1 2\n", {"--fortran-records is only for raw"}, {.has_fortran_records = true});
}

TEST(Raw, BytesInBothOrders) {
  const std::vector<double> values = hostile_values();
  const Scratch file(".raw", bytes_of(values, std::endian::big));
  expect_bits(file.path(), values, {.byte_order = std::endian::big});
  const std::vector<float> floats = {1.5F, -0.0F, 3e38F};
  const Scratch narrow(".raw", bytes_of(floats, std::endian::big));
  expect_bits(narrow.path(), floats, {.type = Type::f32, .byte_order = std::endian::big});
  expect_fault_in(".csv", "1\n", {"--byte-order is only for raw"}, {.byte_order = std::endian::big});
}

/// Fortran's lengths before and behind records, of 4 bytes or 8, would be read as numbers; so would be text.
TEST(Raw, WhatIsNoNumbers) {
  const std::string numbers = bytes_of(many(5));
  for (const std::size_t width : {4U, 8U}) {
    for (const std::endian order : {std::endian::little, std::endian::big}) {
      const std::string length = bytes_of(numbers.size(), width, order);
      expect_fault_in(".raw", length + numbers + length, {"a Fortran record", "stream", "--force"});
      const std::string three = length + numbers + length + length + numbers + length;
      expect_fault_in(".raw", three, {"a Fortran record"}, {.format = Format::raw, .type = Type::f32});
      const Scratch forced(".raw", length + numbers + length);
      EXPECT_EQ(read_in_parts(forced.path(), 2, {.forced = true}).size(), 5 + width / 4);
      const Scratch other(".raw", length + numbers + bytes_of(numbers.size() + 1, width, order));
      EXPECT_EQ(read_in_parts(other.path(), 2).size(), 5 + width / 4);
    }
  }
  expect_fault_in(".raw", "1.5\n2.5\n3.5\n4.5\n", {"it is text", "--format csv", "--force"});
  expect_bits(Scratch(".raw", bytes_of(std::vector<double>{0.0, 0.0, 5e-324, 8.5})).path(),
              std::vector<double>{0.0, 0.0, 5e-324, 8.5});
}

TEST(Open, WhatIsNoFile) {
  expect_fault(fault_of(::testing::TempDir() + "there_is_no_such_file.npy"),
               {"there_is_no_such_file.npy", "No such file"});
  expect_fault(fault_of(::testing::TempDir()), {"directory"});
  expect_fault(fault_of("/dev/null"), {"device"});
}

TEST(Open, UnknownFormatsAndTypes) {
  expect_fault_in(".data", "some text", {"neither the file's name nor its content", "--format"});
  EXPECT_THROW(format_named("hdf5"), Error);
  EXPECT_THROW(type_named("f16"), Error);
  for (const char* name : {"auto", "npy", "binpsllh", "psllh", "raw", "csv", "tsv"})
    EXPECT_EQ(name_of(format_named(name)), name);
  for (const char* name : {"f64", "f32"}) EXPECT_EQ(name_of(type_named(name)), name);
}

TEST(Open, AFileThatShrinksBetweenThePasses) {
  const Scratch file(".binpsllh", binpsllh(many(9)));
  const auto source = open(file.path());
  source->set_counts(std::vector<std::uint64_t>{source->count(0, 1)});
  ASSERT_EQ(::truncate(file.path().c_str(), 30), 0);
  std::vector<double> values(9);
  try {
    source->read(0, std::span(values));
    ADD_FAILURE() << "no fault was found";
  } catch (const Error& error) {
    expect_fault(error.what(), {"changed while it was read"});
  }
}

TEST(Open, BeyondTwoGigabytes) {
  // A sparse file: nothing is stored for the zeros.
  const Scratch file(".raw", "");
  constexpr std::uint64_t n = (std::uint64_t{3} << 30) / 8;
  ASSERT_EQ(::truncate(file.path().c_str(), static_cast<off_t>(8 * n)), 0);
  {
    std::fstream stream(file.path(), std::ios::binary | std::ios::in | std::ios::out);
    stream.seekp(static_cast<std::streamoff>(8 * (n - 1)));
    stream << bytes_of(std::vector<double>{42.5});
  }
  const auto source = open(file.path());
  source->set_counts(std::vector<std::uint64_t>{source->count(0, 1)});
  ASSERT_EQ(source->element_count(), n);
  std::vector<double> end(2);
  source->read(n - 2, std::span(end));
  EXPECT_EQ(bits_of(end), bits_of(std::vector<double>{0.0, 42.5}));
}

TEST(Read, RefusesWhatIsNotThere) {
  const Scratch file(".raw", bytes_of(many(4)));
  const auto source = open(file.path());
  source->set_counts(std::vector<std::uint64_t>{1, 3});
  std::vector<double> doubles(3);
  std::vector<float> floats(1);
  EXPECT_THROW(source->read(2, std::span(doubles)), Error);
  EXPECT_THROW(source->read(std::numeric_limits<std::uint64_t>::max(), std::span(doubles)), Error);
  EXPECT_THROW(source->read(0, std::span(floats)), Error);
  EXPECT_THROW(source->set_counts(std::vector<std::uint64_t>{1, 1}), Error);
}

}  // namespace
}  // namespace steadfold::readers::testing::binary_test
