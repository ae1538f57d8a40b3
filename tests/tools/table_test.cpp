// Tables as people have them: other marks between fields, decimal commas, comments, missing numbers, numbers as Fortran
// and C write them. Every split gives all numbers once and in order.
#include <cmath>
#include <limits>

#include "readers/number.hpp"
#include "scratch.hpp"

namespace steadfold::readers::testing::table_test {
namespace {

double number(std::string_view text, char decimal_mark = '.') {
  double value = 99;
  EXPECT_EQ(parse_number(text, value, decimal_mark), NumberFault::none) << text;
  return value;
}
NumberFault fault(std::string_view text, char decimal_mark = '.') {
  double value = 99;
  return parse_number(text, value, decimal_mark);
}
std::uint64_t bits(double value) { return std::bit_cast<std::uint64_t>(value); }

TEST(Numbers, FortransExponents) {
  for (const char* text : {"2.5d2", "2.5D2", "2.5D+02", "+2.5d+002", "25.q1", "0.25Q3", "250.D0"})
    EXPECT_EQ(bits(number(text)), bits(250.0)) << text;
  EXPECT_EQ(bits(number("-4.9406564584124654D-324")), bits(-std::numeric_limits<double>::denorm_min()));
  EXPECT_EQ(bits(number("-1.d-400")), bits(-0.0));
  EXPECT_EQ(fault("1.d400"), NumberFault::too_large);
  for (const char* text :
       {"d2", "1d", "1.d", "1.d+", "1.d2d3", "1.d2e3", "1.d2.5", "1x2", "0.1-299", "dd", "-d1", "2020Q1", "1d2"})
    EXPECT_EQ(fault(text), NumberFault::not_a_number) << text;
}

/// As printf writes %a. Every bit is written, so nothing is rounded.
TEST(Numbers, HexadecimalNumbersKeepAllBits) {
  for (const double value : hostile_values()) {
    char text[64];
    std::snprintf(text, sizeof text, "%a", value);
    EXPECT_EQ(bits(number(text)), bits(value)) << text;
    std::snprintf(text, sizeof text, "%A", value);
    EXPECT_EQ(bits(number(text)), bits(value)) << text;
  }
  EXPECT_EQ(bits(number("0x1.8p+3")), bits(12.0));
  EXPECT_EQ(bits(number("+0X.8p0")), bits(0.5));
  EXPECT_EQ(bits(number("-0xDp0")), bits(-13.0));  // D is a digit
  EXPECT_EQ(bits(number("-0x1p-2000")), bits(-0.0));
  EXPECT_EQ(bits(number("0x1.00000000000008p0")), bits(1.0));                 // half of the last bit, to even
  EXPECT_EQ(bits(number("0x1.000000000000080000001p0")), bits(1 + 0x1p-52));  // more than half of it
  EXPECT_EQ(fault("0x1p1024"), NumberFault::too_large);
  float narrow = 0;
  EXPECT_EQ(parse_number("0x1p128", narrow), NumberFault::too_large);
  EXPECT_EQ(parse_number("0x1.8p-149", narrow), NumberFault::none);
  EXPECT_EQ(std::bit_cast<std::uint32_t>(narrow), 2U);
  for (const char* text : {"0x", "0x.", "0x-1", "0x+1", "0xp3", "0xinf", "0xnan", "0x1.8p", "0x1", "0xFF",
                           "0x20000000000001", "x1", "1x", "0x1 2", "0x0x1"})
    EXPECT_EQ(fault(text), NumberFault::not_a_number) << text;
}

TEST(Numbers, DecimalCommasExcludePoints) {
  EXPECT_EQ(bits(number("-1,5", ',')), bits(-1.5));
  EXPECT_EQ(bits(number("1,5d2", ',')), bits(150.0));
  EXPECT_EQ(bits(number("0xD,8p1", ',')), bits(27.0));
  EXPECT_EQ(bits(number("17", ',')), bits(17.0));
  EXPECT_TRUE(std::isnan(number("nan", ',')));
  for (const char* text : {"1.5", "1.234,5", "1,234,5", ","}) EXPECT_EQ(fault(text, ','), NumberFault::not_a_number);
  EXPECT_EQ(fault("1,5"), NumberFault::not_a_number);
  EXPECT_EQ(fault("9007199254740993", ','), NumberFault::inexact);
  EXPECT_EQ(bits(number("9007199254740993,0", ',')), bits(9007199254740992.0));
}

TEST(Tables, RunsOfBlanksSeparate) {
  const std::vector<double> values = {1.5, -2, 3e5};
  for (const char* content : {"0 1.5 x\n1 -2 y\n2 3e5 z\n", "  0   1.5  x \n\t1\t-2\t\ty\n2 3e5 z",
                              "0 1.5 x\r\n1 -2 y\r\n\r\n2 3e5 z\r\n", "i v n\n0 1.5 \"a b\"\n1 -2 y\n\n2 3e5 z\n\n"})
    for (const char* extension : {".txt", ".dat", ".TXT"}) {
      const Scratch file(extension, content);
      expect_bits(file.path(), values, {.column = "1"});
    }
  const Scratch alone(".txt", "1.5\n -2\n\n3e5");
  expect_bits(alone.path(), values);
  EXPECT_EQ(open(alone.path())->format(), Format::txt);
  EXPECT_EQ(open(alone.path())->table()->separator, "blanks");
  const Scratch named(".csv", "i v\n0 1.5\n1 -2\n2 3e5\n");
  expect_bits(named.path(), values, {.column = "v", .separator = ' '});
  expect_fault_in(".txt", "1 2\n3\n", {"line 2 has 1 field, line 1 2"}, {.column = "0"});
  expect_fault_in(".txt", "1 \"2\"3\n", {"line 1", "closing quote"}, {.column = "0"});
  expect_fault_in(".txt", " \n\n", {"no rows"});
  const Scratch binary(".dat", binpsllh({1.5, -2, 3e5}));
  expect_bits(binary.path(), values);
  expect_fault_in(".dat", bytes_of(std::vector<double>{1.5, -2, 3e5}), {"zero bytes", "--format"});
}

TEST(Tables, AnyMarkSeparates) {
  for (const char between : {';', '|', ':', '&', '\t', ','}) {
    std::string content = "a_b_c\n1_1.5_x\n2_-2_\n3_3e5_\"z_\"\n";
    for (char& c : content) c = c == '_' ? between : c;
    for (const char* extension : {".csv", ".txt", ".tsv"}) {
      const Scratch file(extension, content);
      expect_bits(file.path(), std::vector<double>{1.5, -2, 3e5}, {.column = "b", .separator = between});
    }
  }
  const Scratch german(".csv", "a;b\n1,5;2,25\n3,5;-4\n");
  expect_bits(german.path(), std::vector<double>{2.25, -4}, {.column = "b", .separator = ';', .decimal_mark = ','});
  const TableReading table = *open(german.path(), {.column = "b", .separator = ';', .decimal_mark = ','})->table();
  EXPECT_TRUE(table.has_header);
  EXPECT_EQ(table.separator, "semicolon");
  EXPECT_EQ(table.decimal_mark, ',');
  expect_fault_in(".csv", "a;b\n1.5;2\n", {"line 2", "'1.5'", "leave out --decimal comma"},
                  {.column = "a", .separator = ';', .decimal_mark = ','});
  expect_fault_in(".csv", "a;b\n1,5;2\n", {"line 2", "'1,5'", "--decimal comma"}, {.column = "a", .separator = ';'});
  expect_fault_in(".txt", "1,2\n3,4\n", {"'1,2'", "--separator comma"});
  expect_fault_in(".psllh", "1 1,5\n", {"'1,5'", "write decimal points, and write no"});
  expect_fault_in(".csv", "a;b\n9007199254740993;1\n", {"as 5,0"},
                  {.column = "a", .separator = ';', .decimal_mark = ','});
  expect_fault_in(".csv", "a,b\n1,2\n", {"both between fields and within numbers", "--separator"},
                  {.column = "a", .decimal_mark = ','});
  for (const char* name : {"", "1", "a", "+", "-", ".", "\"", "::", "blank", " ", "\xC3\xA9"})
    EXPECT_THROW(separator_named(name), Error) << name;
  EXPECT_THROW(format_named("dat"), Error);  // a file's ending alone
}

TEST(Tables, CommentsAreNoRows) {
  const std::string content = "# made by hand\n\n#x y\n1 10 # ten\n  # indented\n2 20\n#\n3 30#\n# end";
  const Scratch file(".txt", content);
  expect_bits(file.path(), std::vector<double>{10, 20, 30}, {.column = "1"});
  std::string percents = content;
  for (char& c : percents) c = c == '#' ? '%' : c;
  const Scratch other(".dat", percents);
  expect_bits(other.path(), std::vector<double>{1, 2, 3}, {.column = "0", .comment = "%"});
  const Scratch csv(".csv", "// c\na,b\n1,2\n// d\n3,4\n");
  expect_bits(csv.path(), std::vector<double>{2, 4}, {.column = "b", .comment = "//"});
  expect_fault_in(".csv", "# c\na,b\n1,2\n", {"no column 'b'", "--comment"}, {.column = "b"});
  expect_fault_in(".csv", "a,b\n1,2\n\n3,4\n", {"line 3", "blank"}, {.column = "b", .comment = "#"});
  expect_fault_in(".csv", "a,b\n1,2 # two\n", {"line 2", "'2 # two'"}, {.column = "b", .comment = "#"});
  expect_fault_in(".txt", "# 1\n0 x\n1 2\n3 <5\n", {"line 4", "'<5'"}, {.column = "1"});
  expect_fault_in(".txt", "# 1\n0 1\n1.5 2\n", {"line 2 may be names or numbers"}, {.column = "0"});
  expect_fault_in(".txt", "# 1\n# 2\n", {"no rows"});
  for (const char* comment : {" ", "-", "+1", "1", ".", ",", "\"", "e"})
    expect_fault_in(".txt", "1 2\n", {"a comment cannot begin with", "--comment"}, {.column = "0", .comment = comment});
  expect_fault_in(".csv", "a;b\n;2\n", {"a comment cannot begin with"},
                  {.column = "b", .separator = ';', .comment = ";"});
  const Scratch numbers(".txt", "a#b\n#2\n3#4\n");  // the separator is no comment
  expect_bits(numbers.path(), std::vector<double>{2, 4}, {.column = "b", .separator = '#'});
}

TEST(Tables, RowsWithoutANumberAreLeftOutIfAsked) {
  const Scratch file(".csv", "a,b\nNA,1\n1.5,2\n,3\n\"NA\",4\n -2 ,NA\nnan,6\n NA ,7\n3e5,8\n");
  const Options options{.column = "a", .missing = missing_texts("NA,,nan", '.')};
  expect_bits(file.path(), std::vector<double>{1.5, -2, 3e5}, options);
  for (const std::uint64_t parts : {1U, 2U, 3U, 9U}) {
    std::uint64_t missing = 0;
    const auto source = open(file.path(), options);
    for (std::uint64_t part = 0; part < parts; ++part) {
      source->count(part, parts);
      missing += source->missing_count();
    }
    EXPECT_EQ(missing, 5U) << parts;
  }
  const std::vector<double> with_nan = read_in_parts(file.path(), 3, {.column = "a", .missing = {"NA", ""}});
  ASSERT_EQ(with_nan.size(), 4U);
  EXPECT_TRUE(std::isnan(with_nan[2]));
  expect_fault_in(".csv", "a,b\n1,2\n,3\n", {"line 3", "empty", "--missing ,"}, {.column = "a"});
  expect_fault_in(".csv", "a;b\n1;2\n;3\n", {"line 3", "empty", "--missing ';'"},
                  {.column = "a", .separator = ';', .decimal_mark = ','});
  expect_fault_in(".csv", "a\n1\nna\n", {"line 3", "'na'"}, {.missing = {"NA"}});  // letters count
  expect_fault_in(".csv", "a,b\nNA\n1,2\n", {"line 2 has 1 field"}, {.column = "a", .missing = {"NA"}});
  const Scratch first(".csv", "NA\n1.5\n-2\n3e5\n");  // a mark in line 1 is no name
  expect_bits(first.path(), std::vector<double>{1.5, -2, 3e5}, {.missing = {"NA"}});
  EXPECT_FALSE(open(first.path(), {.missing = {"NA"}})->table()->has_header);
  // A mark of a missing number does not make names a row.
  expect_fault_in(".csv", ",0,1,2\n0,1.5,2.5,\n1,3.5,4.5,5\n", {"line 1 may be names or numbers", "empty cell"},
                  {.column = "2", .missing = {"NA", ""}});
  expect_fault_in(".csv", "gap,2019\nx,1.5\n", {"line 1 may be names or numbers"}, {.column = "1", .missing = {"gap"}});
  for (const char* word : {"none", "NA", "<5", "-"})
    expect_fault_in(".csv", word + std::string(",2019\nx,1.5\n"),
                    {"line 1 may be names or numbers", "words and the digits 2019"}, {.column = "1"});
  const Scratch no_names(".csv", "NA,3\n2.5,4\n");  // a missing number above numbers
  expect_bits(no_names.path(), std::vector<double>{3, 4}, {.column = "1"});
  const Scratch dates(".csv", "2020-01-01,3\n2020-01-02,4\n");
  expect_bits(dates.path(), std::vector<double>{3, 4}, {.column = "1"});
  for (const char* content : {"country,2020Q1\nDE,1.5\nFR,3.5\n", "name,0x10\na,1.5\nb,3.5\n"})
    expect_fault_in(".csv", content, {"line 1", "is not a number", "--header yes"}, {.column = "1"});
  EXPECT_EQ(missing_texts("-99,9;;NA", ','), (std::vector<std::string>{"-99,9", "", "NA"}));
  const Scratch commas(".csv", "v;w\n1,5;0\n-99,9;0\n-2;0\n3e5;0\n");
  expect_bits(commas.path(), std::vector<double>{1.5, -2, 3e5},
              {.column = "v", .separator = ';', .decimal_mark = ',', .missing = {"-99,9"}});
  const Scratch nothing(".csv", "v\nNA\nNA\n");
  expect_bits(nothing.path(), std::vector<double>{}, {.missing = {"NA"}});
  const Scratch blanks(".txt", "# t v\n0 1.5\n1 NA\n2 -2 # low\n3 3e5\n");
  expect_bits(blanks.path(), std::vector<double>{1.5, -2, 3e5}, {.column = "1", .missing = {"NA"}});
}

TEST(Tables, OptionsOfTablesAreRefusedElsewhere) {
  for (const Options& options :
       {Options{.separator = ';'}, Options{.decimal_mark = ','}, Options{.comment = "#"}, Options{.missing = {"NA"}}})
    expect_fault_in(".psllh", "1 2\n", {"no table", "leave out --"}, options);
}

}  // namespace
}  // namespace steadfold::readers::testing::table_test
