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
  expect_fault_in(".psllh", "3\n1\n2\n", {"truncated", "3 numbers are announced, but 2 were found"});
  expect_fault_in(".psllh", "3\n1\n2\n3\n4\n", {"too long", "3 numbers are announced, but 4 were found"});
  expect_fault_in(".psllh", "1\n2 garbage", {"1 numbers are announced, but 2 were found"});
  expect_fault_in(".psllh", "1000000000000000000 1", {"truncated", "1000000000000000000"});
  expect_fault_in(".psllh", "-3 1 2 3", {"'-3'", "negative"});
  for (const char* count : {"3.0", "x", "nan", "18446744073709551616", "3,", "+3"})
    expect_fault_in(".psllh", count + std::string("\n1\n2\n3\n"), {"'" + std::string(count) + "'", "not a count"});
}

TEST(Psllh, WhatIsNoNumber) {
  for (const char* word :
       {"abc", "1.0.0", "1,5", "--1", "+-1", "1e", ".", "1_000", "0x", "1d", "0x10", "1d5", "\xC3\xA9"}) {
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

TEST(Csv, LineOneIsNamesIfAWordStandsAboveNumbers) {
  const Scratch numbers(".csv", "1,2\n3,4\n");
  expect_bits(numbers.path(), std::vector<double>{2, 4}, {.column = "1"});
  expect_bits(numbers.path(), std::vector<double>{3}, {.column_name = "1"});
  expect_bits(numbers.path(), std::vector<double>{4}, {.column = "1", .header = true});
  const Scratch alone(".csv", "1.5\n2.5\n");
  expect_bits(alone.path(), std::vector<double>{1.5, 2.5});
  expect_bits(alone.path(), std::vector<double>{2.5}, {.header = true});
  const Scratch mixed(".csv", "x,0\n10,20\n");  // any column decides
  expect_bits(mixed.path(), std::vector<double>{10}, {.column = "0"});
  expect_bits(mixed.path(), std::vector<double>{20}, {.column = "1"});
  expect_bits(mixed.path(), std::vector<double>{0, 20}, {.column = "1", .header = false});
  expect_bits(mixed.path(), std::vector<double>{10}, {.column = "x"});
  const Scratch labels(".csv", "a,1.5\nb,2.5\n");  // words in both lines say nothing
  expect_bits(labels.path(), std::vector<double>{1.5, 2.5}, {.column = "1"});
  EXPECT_EQ(open(numbers.path(), {.column = "0"})->table()->has_header, false);
  EXPECT_EQ(open(mixed.path(), {.column = "1"})->table()->has_header, true);
  expect_fault_in(".csv", "x,0\n10,20\n", {"line 1", "'x'", "not a number"}, {.column = "0", .header = false});
  expect_fault_in(".csv", "x,0\n10,20\n", {"column 'x'", "no names"}, {.column = "x", .header = false});
  expect_fault_in(".csv", "x,0\n10,20\n", {"two columns", "'0'", "'x'"}, {.column = "0", .column_name = "x"});
  expect_fault_in(".csv", "1,2\n3\n", {"line 2 has 1 field, line 1 2"}, {.column = "0"});
}

/// As pandas writes the names of columns that have none, with an index and without, and years.
TEST(Csv, NumbersThatMayBeNamesAreRefused) {
  const char* const hint = "--header yes or --header no";
  for (const char* content : {",0,1\n0,1.5,10\n1,2.5,20\n", ",,0\n0,1,2\n", "0,1,2\n0,1.5,10\n", "0,\n1.5,2\n",
                              "city,2019,2020\nParis,3,4\n", "city,2019,2020\n", "\"\",\"0\"\n\"1\",2.5\n"})
    expect_fault_in(".csv", content, {"line 1 may be names or numbers", hint}, {.column = "1"});
  expect_fault_in(".csv", ",0,1\n0,1.5,10\n", {"line 1 may be names or numbers", "empty", hint}, {.column = "0"});
  const Scratch pandas(".csv", ",0,1\n0,1.5,10\n1,2.5,20\n");
  expect_bits(pandas.path(), std::vector<double>{10, 20}, {.column = "2", .header = true});
  expect_bits(pandas.path(), std::vector<double>{1, 10, 20}, {.column = "2", .header = false});
  expect_bits(pandas.path(), std::vector<double>{10, 20}, {.column_name = "1"});
  for (const char* named : {",a\n0,1.5\n1,2.5\n", "\"\",\"a\"\n\"1\",1.5\n\"2\",2.5\n", "n,2019\n0,1.5\n1,2.5\n"}) {
    const Scratch file(".csv", named);  // pandas with names, R, pandas with a name for the index
    expect_bits(file.path(), std::vector<double>{1.5, 2.5}, {.column = "1"});
  }
  for (const char* content : {"0\n1.5\n-2.5\n", "2019\n1.5\nnan\n"})
    expect_fault_in(".csv", content, {"line 1 may be names or numbers", "no decimal points", hint});
  for (const char* content : {"2019,2020\n1.5,2.5\n"})
    expect_fault_in(".csv", content, {"line 1 may be names or numbers", hint}, {.column = "0"});
  expect_fault_in(".csv", "x,5.5\n12,6.5\n", {"words and the number 5.5", hint}, {.column = "1"});
  for (const char* content : {"0\n1.5\n2\n", "0\ninf\n"})
    EXPECT_EQ(open(Scratch(".csv", content).path())->table()->has_header, false);
  const Scratch points(".csv", "2,0.5\n1.5,2.5\n");  // no names have points
  expect_bits(points.path(), std::vector<double>{2, 1.5}, {.column = "0"});
  const Scratch ends(".csv", "1,2,\n3,4,\n");  // empty in all lines
  expect_bits(ends.path(), std::vector<double>{2, 4}, {.column = "1"});
  expect_fault_in(".csv", "n,2019\n0,1.5\n", {"no column 2019", "--column-name 2019"}, {.column = "2019"});
}

/// A first row is never taken for names because its cell is no number: line 2 would be refused for the same cell.
TEST(Csv, CellsOfLineOneThatResembleNumbersAreRefused) {
  for (const char* cell : {"1e400",
                           "2.5d400",
                           "0x1p3000",
                           "0xFF",
                           "2d2",
                           "2.5d+",
                           "0x",
                           "0x1p2000",
                           "\"1,234.5\"",
                           "1_000",
                           "\xE2\x88\x92"
                           "1.5",
                           "NA",
                           "N/A",
                           "1.#INF",
                           "****",
                           "1.5 2.5",
                           "5%",
                           "$5",
                           "1.5-300",
                           "12:30",
                           "null",
                           "\"1,5\"",
                           "1'000",
                           "\"(1.0,2.0)\"",
                           "9007199254740993",
                           "<0.5",
                           "~5",
                           "[5]",
                           "5 kg",
                           "2nd",
                           "n.d.",
                           "--",
                           "2^3",
                           "# 7",
                           "5;",
                           "5\xC2\xB1"
                           "1",
                           "\xE2\x89\xA4"
                           "5",
                           "\xE2\x80\x8B"
                           "5",
                           "\xE2\x88\x9E",
                           "\xC2\xA0"
                           "5"}) {
    const std::string text(cell);
    expect_fault_in(".csv", text + "\n1\n2\n", {"line 1", "--header yes"});
    expect_fault_in(".csv", "1\n" + text + "\n2\n", {"line 2"});
    const Scratch named(".csv", text + "\n1\n2\n");
    EXPECT_EQ(read_in_parts(named.path(), 2, {.header = true}), (std::vector<double>{1, 2}));
    const Scratch beside(".csv", text + ",x\n1,2\n");  // the other column says that these are names
    EXPECT_EQ(read_in_parts(beside.path(), 2, {.column = "0"}), std::vector<double>{1});
  }
  for (const char* name :
       {"x1", "nd_1", "q1", "mean", "T", "value 1", "# time", "e", "f64", "_x", "%a", "\xC2\xB5g", "\xC2\xB0 C",
        "\xE6\xB8\xA9"
        "2"}) {
    const Scratch named(".csv", std::string(name) + "\n1\n2\n");
    EXPECT_EQ(read_in_parts(named.path(), 2), (std::vector<double>{1, 2}));
  }
}

TEST(Csv, CellsThatAreNoNumbersSayWhatToWrite) {
  const std::vector<std::pair<const char*, const char*>> cells = {{"2.5d2.5", "correct this number"},
                                                                  {"\"1,5\"", "decimal points"},
                                                                  {"\xE2\x88\x92"
                                                                   "1",
                                                                   "signs as -"},
                                                                  {"\xC2\xA0"
                                                                   "12",
                                                                   "special blanks"},
                                                                  {"0.1-299", "exponent with e"},
                                                                  {"NA", "nan"},
                                                                  {"***", "wider field"},
                                                                  {"1 2", "between fields"},
                                                                  {"x", "correct this number"}};
  for (const auto& [cell, advice] : cells)
    expect_fault_in(".csv", std::string("v\n1\n") + cell + "\n", {"line 3", "not a number", advice});
}

TEST(Text, IntegersAreExactOrRefused) {
  for (const char* integer : {"9007199254740993", "-9007199254740993", "+09007199254740993", "18446744073709551615",
                              "123456789012345678901234567890", "100000000000000001"}) {
    const std::string text(integer);
    for (const char* before : {"v\n1\n", "1\n1\n"})
      expect_fault_in(".csv", before + text + "\n",
                      {"line 3", "an integer that type f64 cannot hold exactly", "with a point"});
    expect_fault_in(".psllh", "2 1\n" + text + "\n", {"line 2", "an integer that type f64 cannot hold exactly"});
    const Scratch rounded(".csv", text + ".0\n" + text + "e0\n");
    EXPECT_EQ(read_in_parts(rounded.path(), 1).size(), 2U);
  }
  const Scratch held(".csv",
                     "v\n9007199254740992\n-9007199254740994\n100000000000000000\n1e17\n18446744073709551616\n-0\n"
                     "0000000000000000000001\n999999999999999\n");
  expect_bits(held.path(), std::vector<double>{0x1p53, -0x1p53 - 2, 1e17, 1e17, 0x1p64, -0.0, 1, 999999999999999});
  expect_fault_in(".csv", "v\n16777217\n", {"line 2", "an integer that type f32 cannot hold exactly"},
                  {.type = Type::f32});
  const Scratch floats(".csv", "16777216\n1e10\n10000000000\n16777217.0\n");
  expect_bits(floats.path(), std::vector<float>{0x1p24F, 1e10F, 1e10F, 0x1p24F}, {.type = Type::f32});
}

TEST(Text, FilesOfOtherKindsAreNamed) {
  const std::vector<std::pair<std::string, const char*>> kinds = {{"\x1F\x8B\x08"
                                                                   "abc",
                                                                   "gzip"},
                                                                  {std::string("PK\x03\x04\0\0", 6), "zip"},
                                                                  {"BZh91AY&SY", "bzip2"},
                                                                  {std::string("\xFD"
                                                                               "7zXZ\0",
                                                                               6),
                                                                   "xz"},
                                                                  {"\x28\xB5\x2F\xFD"
                                                                   "a",
                                                                   "zstd"},
                                                                  {"\x89HDF\r\n\x1A\n", "HDF5"},
                                                                  {std::string("CDF\x01\0", 5), "netCDF"},
                                                                  {"PAR1abcd", "Parquet"}};
  for (const auto& [content, name] : kinds)
    for (const char* extension : {".csv", ".tsv", ".psllh", ".npy", ".raw", ".binpsllh", ".gz", ""})
      expect_fault_in(extension, content, {name});
  const std::string wide(
      "v\0\n\0"
      "1\0\n\0",
      8);
  for (const char* extension : {".csv", ".tsv", ".psllh", ".txt"})
    expect_fault_in(extension, "\xFF\xFE" + wide, {"UTF-16", "UTF-8"});
  for (const char* extension : {".csv", ".tsv"}) expect_fault_in(extension, wide, {"UTF-16", "UTF-8"});
  const Scratch raw(".raw", std::string("\x1F\x8B\x08\0\0\0\xF0\x3F", 8));  // a number, too
  EXPECT_EQ(read_in_parts(raw.path(), 1, {.forced = true}).size(), 1U);
  const Scratch counted(".binpsllh", std::string("\xFF\xFE\0\0\0\0\0\0", 8) + std::string(8 * 0xFEFF, '\0'));
  EXPECT_EQ(read_in_parts(counted.path(), 1).size(), 0xFEFFU);
  expect_fault_in(".csv", "1\n2\n", {"--force is only for raw"}, {.forced = true});
}

/// As Excel writes where numbers have decimal commas.
TEST(Csv, SemicolonsBetweenFieldsAreRefused) {
  for (const char* content : {"a;b\n1;2\n",
                              "\xEF\xBB\xBF"
                              "a;b\r\n1,5;2,5\r\n",
                              "1,5;2,5\n3,5;4,5\n", "1;2", "\"a;b\";c\n\"1;1\";2\n"})
    for (const char* column : {"", "0", "b"})
      expect_fault_in(".csv", content, {"semicolons", "--separator semicolon"}, {.column = column});
  const Scratch tags(".csv", "name,tags\n1,a;b\n2,c\n");
  expect_bits(tags.path(), std::vector<double>{1, 2}, {.column = "name"});
  const Scratch quoted(".csv", "7.0,\"1;2\"\n8,\"3;4\"\n");
  expect_bits(quoted.path(), std::vector<double>{7, 8}, {.column = "0"});
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
}

TEST(Csv, Quotes) {
  const Options second{.column = "b"};
  expect_fault_in(".csv", "a,b\n\"x\ny\",2\n", {"line 2", "does not end on the same line"}, second);
  expect_fault_in(".csv", "a,b\n1,\"2\"3\n", {"line 2", "closing quote"}, second);
  expect_fault_in(".csv", "\"a,b\n1,2\n", {"line 1", "does not end on the same line"}, second);
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
  EXPECT_EQ(open(file.path(), {.column = "1"})->table()->has_header, true);
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
