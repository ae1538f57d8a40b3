// psllh and csv: every split gives all elements once and in order, whatever the line ends; malformed text is a fault
// that names the line.
#include <cmath>

#include "scratch.hpp"

namespace steadfold::readers::testing::text_test {
namespace {

std::string digits(double value) {
  char text[64];
  std::snprintf(text, sizeof text, "%.17g", value);
  return text;
}

std::string joined(const std::vector<double>& values, const std::string& separator) {
  std::string result;
  for (const double value : values) result += digits(value) + separator;
  return result;
}

TEST(Psllh, AnyBlanksSeparate) {
  const std::vector<double> values = hostile_values();
  const std::string count = std::to_string(values.size());
  for (const char* separator : {" ", "\n", "\r\n", "\t", " \n \n", "      \n"}) {
    const Scratch file(".psllh", count + separator + joined(values, separator));
    expect_bits(file.path(), values);
    const Scratch blanks_around(".psllh", " \n\n" + count + "\n" + joined(values, separator) + "\n\n  ");
    expect_bits(blanks_around.path(), values);
  }
  std::string unended = count + "\n" + joined(values, "\n");
  unended.pop_back();
  const Scratch file(".psllh", unended);
  expect_bits(file.path(), values);
}

TEST(Psllh, NothingToRead) {
  for (const char* content : {"0", "0\n", " 0 \n\n"}) {
    const Scratch file(".psllh", content);
    expect_bits(file.path(), std::vector<double>{});
  }
}

TEST(Psllh, LongNumbersAcrossManyParts) {
  const std::string half = "0.5" + std::string(3000, '0');
  const Scratch file(".psllh", "3 " + half + " 1 " + half);
  expect_bits(file.path(), std::vector<double>{0.5, 1.0, 0.5});
  for (std::uint64_t parts = 1; parts < 40; ++parts)
    EXPECT_EQ(bits_of(read_in_parts(file.path(), parts)), bits_of(std::vector<double>{0.5, 1.0, 0.5}));
}

TEST(Psllh, NanAndInfinityAreValues) {
  const Scratch file(".psllh", "7\nnan\n-inf\nINF\ninfinity\nNaN\n+1\n+inf\n");
  const std::vector<double> values = read_in_parts(file.path(), 3);
  ASSERT_EQ(values.size(), 7U);
  EXPECT_TRUE(std::isnan(values[0]) && std::isnan(values[4]));
  EXPECT_EQ(bits_of(std::vector<double>{values[1], values[2], values[3], values[5], values[6]}),
            bits_of(std::vector<double>{-HUGE_VAL, HUGE_VAL, HUGE_VAL, 1.0, HUGE_VAL}));
}

TEST(Psllh, Floats) {
  // To nearest float at once: by way of double, the first would round twice and end one higher.
  const Scratch file(".psllh", "2\n1.00000017881393432617187499999\n1e-45\n");
  expect_bits(file.path(), std::vector<float>{std::bit_cast<float>(0x3F800001U), std::bit_cast<float>(1U)},
              {.type = Type::f32});
  expect_fault_in(".psllh", "1\n1e39\n", {"line 2", "'1e39'"}, {.type = Type::f32});
}

TEST(Psllh, CountsThatDoNotFit) {
  expect_fault_in(".psllh", "", {"empty"});
  expect_fault_in(".psllh", " \n ", {"blank"});
  expect_fault_in(".psllh", "3\n1\n2\n", {"truncated", "3 numbers announced, 2 found"});
  expect_fault_in(".psllh", "3\n1\n2\n3\n4\n", {"too long", "3 numbers announced, 4 found"});
  expect_fault_in(".psllh", "1\n2 garbage", {"1 numbers announced, 2 found"});
  expect_fault_in(".psllh", "1000000000000000000 1", {"truncated", "1000000000000000000"});
  expect_fault_in(".psllh", "-3 1 2 3", {"'-3'", "negative"});
  for (const char* count : {"3.0", "x", "nan", "18446744073709551616", "3,", "+3"})
    expect_fault_in(".psllh", count + std::string("\n1\n2\n3\n"), {"'" + std::string(count) + "'", "no count"});
}

TEST(Psllh, WhatIsNoNumber) {
  for (const char* word : {"abc", "1.0.0", "1,5", "0x10", "--1", "+-1", "1e", ".", "1_000", "1d5", "\xC3\xA9"}) {
    expect_fault_in(".psllh", "3\n1 2\n" + std::string(word) + "\n", {"line 3", "is not a number"});
    expect_fault_in(".psllh", "3\n" + std::string(word) + "\n1 2\n", {"line 2", "is not a number"});
  }
  expect_fault_in(".psllh", "2\n1\n1e999\n", {"line 3", "'1e999'", "too large"});
  expect_fault_in(".psllh", "2\n1\n-1.8e308\n", {"'-1.8e308'", "too large"});
  expect_fault_in(".psllh", "1\n" + std::string(100000, '1') + "\n", {"line 2", "4096"});
  expect_fault_in(".psllh", "1\n" + std::string("1\0002", 3) + "\n", {R"('1\x002')"});
}

TEST(Psllh, TooSmallRoundsToZero) {
  const Scratch file(".psllh", "5\n1e-400\n-1e-400\n2e-324\n3e-324\n0.00000001e-999999999999\n");
  expect_bits(file.path(), std::vector<double>{0.0, -0.0, 0.0, 4.9406564584124654e-324, 0.0});
}

const char* const table = "name,value,\"a, b\"\nx,1.5,2\ny,-0.25,3e5\n\"z, \"\"w\"\"\",\"0.1\",-4\n";

TEST(Csv, Columns) {
  const Scratch file(".csv", table);
  for (const char* column : {"value", "1"})
    expect_bits(file.path(), std::vector<double>{1.5, -0.25, 0.1}, {.column = column});
  for (const char* column : {"a, b", "2"})
    expect_bits(file.path(), std::vector<double>{2, 3e5, -4}, {.column = column});
}

TEST(Csv, LineEnds) {
  const std::vector<double> values = {1.5, 2.5};
  for (const char* content : {"v\n1.5\n2.5\n", "v\n1.5\n2.5", "v\r\n1.5\r\n2.5\r\n", "v\n1.5\n2.5\n\n\n",
                              "\xEF\xBB\xBFv\n1.5\n2.5\n", " v \n 1.5 \n\t2.5\n", "\"v\"\n\"1.5\"\n\"2.5\"\n"}) {
    const Scratch file(".csv", content);
    expect_bits(file.path(), values);
    expect_bits(file.path(), values, {.column = "v"});
  }
  for (const char* content : {"v", "v\n", "v\r\n\r\n"}) {
    const Scratch file(".csv", content);
    expect_bits(file.path(), std::vector<double>{});
  }
}

TEST(Csv, LineOneIsNamesUnlessItsCellIsANumber) {
  const Scratch numbers(".csv", "1,2\n3,4\n");
  expect_bits(numbers.path(), std::vector<double>{2, 4}, {.column = "1"});
  expect_bits(numbers.path(), std::vector<double>{3}, {.column_name = "1"});
  expect_bits(numbers.path(), std::vector<double>{4}, {.column = "1", .header = true});
  const Scratch alone(".csv", "1.5\n2.5\n");
  expect_bits(alone.path(), std::vector<double>{1.5, 2.5});
  expect_bits(alone.path(), std::vector<double>{2.5}, {.header = true});
  const Scratch mixed(".csv", "x,0\n10,20\n");  // the chosen cell decides
  expect_bits(mixed.path(), std::vector<double>{10}, {.column = "0"});
  expect_bits(mixed.path(), std::vector<double>{0, 20}, {.column = "1"});
  expect_bits(mixed.path(), std::vector<double>{10}, {.column = "x"});
  EXPECT_EQ(open(numbers.path(), {.column = "0"})->has_header(), false);
  EXPECT_EQ(open(mixed.path(), {.column = "0"})->has_header(), true);
  expect_fault_in(".csv", "x,0\n10,20\n", {"line 1", "'x'", "not a number"}, {.column = "0", .header = false});
  expect_fault_in(".csv", "x,0\n10,20\n", {"column 'x'", "no names"}, {.column = "x", .header = false});
  expect_fault_in(".csv", "x,0\n10,20\n", {"two columns", "'0'", "'x'"}, {.column = "0", .column_name = "x"});
  expect_fault_in(".csv", "1,2\n3\n", {"line 2 has 1 field, line 1 2"}, {.column = "0"});
}

TEST(Csv, UnknownColumns) {
  for (const char* column : {"valu", "-1", "1.0"})
    expect_fault_in(".csv", table, {"no column '" + std::string(column) + "'", "3 columns", "'name', 'value', 'a, b'"},
                    {.column = column});
  for (const char* column : {"3", "99999999999999999999"})
    expect_fault_in(".csv", table, {"no column " + std::string(column), "3 columns"}, {.column = column});
  expect_fault_in(".csv", table, {"no column is chosen", "'value'", "--column"});
  expect_fault_in(".csv", "a,a\n1,2\n", {"several columns", "'a'"}, {.column = "a"});
  expect_fault_in(".csv", "\n1\n", {"first line is blank"});
}

TEST(Csv, RowsThatDoNotFit) {
  const Options second{.column = "b"};
  expect_fault_in(".csv", "a,b\n1,2\n3\n", {"line 3", "1 field", "header 2"}, second);
  expect_fault_in(".csv", "a,b\n1,2,3\n4,5\n", {"line 2", "3 fields"}, second);
  expect_fault_in(".csv", "a,b\n1,2\n\n3,4\n", {"line 3", "blank"}, second);
  expect_fault_in(".csv", "v\n1\n\n3\n", {"line 3", "blank"});
  expect_fault_in(".csv", "a,b\n1,\n3,4\n", {"line 2", "empty"}, second);
  expect_fault_in(".csv", "a,b\n1,x\n3,4\n", {"line 2", "'x'", "not a number"}, second);
  expect_fault_in(".csv", "a,b\n1,2\n3,1e999\n", {"line 3", "too large"}, second);
  expect_fault_in(".csv", "a;b\n1;2\n", {"'a;b'"}, second);
}

TEST(Csv, Quotes) {
  const Options second{.column = "b"};
  expect_fault_in(".csv", "a,b\n\"x\ny\",2\n", {"line 2", "does not end on its line"}, second);
  expect_fault_in(".csv", "a,b\n1,\"2\"3\n", {"line 2", "closing quote"}, second);
  expect_fault_in(".csv", "\"a,b\n1,2\n", {"line 1", "does not end on its line"}, second);
  expect_fault_in(".csv", "a\r1\r2\r", {"carriage return"});
  const Scratch names(".csv", "\"a \"\"b\"\"\",c\n1,2\n");
  expect_bits(names.path(), std::vector<double>{1}, {.column = "a \"b\""});
}

TEST(Tsv, TabsStandBetweenFields) {
  const Scratch file(".tsv", "name\tvalue\t\"a\tb\"\nx, y\t1.5\t2\n\t -0.25 \t3e5\r\n\"z, \"\"w\"\"\"\t\"0.1\"\t-4\n");
  for (const char* column : {"value", "1"})
    expect_bits(file.path(), std::vector<double>{1.5, -0.25, 0.1}, {.column = column});
  for (const char* column : {"a\tb", "2"})
    expect_bits(file.path(), std::vector<double>{2, 3e5, -4}, {.column = column});
  EXPECT_EQ(open(file.path(), {.column = "1"})->format(), Format::tsv);
  EXPECT_EQ(open(file.path(), {.column = "1"})->has_header(), true);
  const Scratch alone(".TSV", "1.5\n2.5\n");
  expect_bits(alone.path(), std::vector<double>{1.5, 2.5});
  const Scratch named(".txt", "1\t2\n3\t4\n");
  expect_bits(named.path(), std::vector<double>{2, 4}, {.format = Format::tsv, .column = "1"});
  const Scratch commas(".tsv", "a,b\n1\n");
  expect_bits(commas.path(), std::vector<double>{1}, {.column = "a,b"});
}

/// Fields may be empty where they are not read, the last ones of the file, too.
TEST(Tsv, EmptyFields) {
  const Scratch file(".tsv", "a\tb\tc\n1\t\t\n2\t\t \n3\t\t");
  expect_bits(file.path(), std::vector<double>{1, 2, 3}, {.column = "a"});
  expect_fault_in(".tsv", "a\tb\n1\t2\n\t\n", {"line 3", "column 1 is empty"}, {.column = "b"});
  expect_fault_in(".tsv", "a\tb\n1\t2\n\n3\t4\n", {"line 3", "blank"}, {.column = "b"});
  expect_fault_in(".tsv", "a\tb\n1\t2\n3\n", {"line 3", "1 field", "header 2"}, {.column = "b"});
  expect_fault_in(".tsv", "a\tb\n1\t\"2\"3\n", {"line 2", "closing quote"}, {.column = "b"});
  expect_fault_in(".tsv", "a\tb\n1\t2\n", {"no column is chosen", "'a', 'b'"});
  expect_fault_in(".tsv", "\n1\n", {"first line is blank"});
  expect_fault_in(".csv", "a\tb\n1\t2\n", {"no column 'b'", "'a\\x09b'"}, {.column = "b"});
}

TEST(Csv, ManyRowsOfAllLengths) {
  std::string content = "word,number,other\n";
  std::vector<double> values;
  for (int i = 0; i < 700; ++i) {
    values.push_back(std::ldexp(1.0 / (i + 1), i % 90 - 45));
    content += "\"" + std::string(static_cast<std::size_t>(i % 23), 'w') + ",\"," + digits(values.back()) + ",\n";
  }
  const Scratch file(".csv", content);
  expect_bits(file.path(), values, {.column = "number"});
  for (const std::uint64_t parts : {64U, 699U, 5000U})
    EXPECT_EQ(bits_of(read_in_parts(file.path(), parts, {.column = "1"})), bits_of(values));
}

}  // namespace
}  // namespace steadfold::readers::testing::text_test
