// npy files written by hand: every version and type that is read, every header that is not.
#include <numeric>

#include "scratch.hpp"

namespace steadfold::readers::testing::npy_test {
namespace {

const std::vector<double> six = {0.1, -2.5, 1e60, -0.0, 4.9406564584124654e-324, 6.0};

std::string header(const std::string& dictionary, int version = 1) {
  const std::size_t width = version == 1 ? 2 : 4;
  std::string text = dictionary;
  while ((6 + 2 + width + text.size() + 1) % 64 != 0) text += ' ';
  text += '\n';
  return std::string("\x93NUMPY") + static_cast<char>(version) + '\0' + bytes_of(text.size(), width) + text;
}

std::string array(const std::string& descr, const std::string& shape, const std::string& fortran = "False") {
  return header("{'descr': '" + descr + "', 'fortran_order': " + fortran + ", 'shape': " + shape + ", }");
}

TEST(Npy, EveryVersion) {
  for (const int version : {1, 2, 3}) {
    const Scratch file(".npy",
                       header("{'descr': '<f8', 'fortran_order': False, 'shape': (6,), }", version) + bytes_of(six));
    expect_bits(file.path(), six);
  }
}

TEST(Npy, EveryType) {
  const std::vector<float> floats = {0.1F, -2.5F, 1e-45F};
  const Scratch big(".npy", array(">f8", "(6,)") + bytes_of(six, std::endian::big));
  const Scratch single(".npy", array("<f4", "(3,)") + bytes_of(floats));
  const Scratch big_single(".npy", array(">f4", "(3,)") + bytes_of(floats, std::endian::big));
  expect_bits(big.path(), six);
  expect_bits(single.path(), floats);
  expect_bits(big_single.path(), floats);
  EXPECT_EQ(open(single.path())->type(), Type::f32);
  EXPECT_EQ(open(big.path())->type(), Type::f64);
}

TEST(Npy, ShapesInCOrder) {
  for (const char* shape : {"(6,)", "(6)", "(2, 3)", "(1, 6, 1)", "(3,2,1,)", "(6L,)", "( 2 ,\t3 )"}) {
    const Scratch file(".npy", array("<f8", shape) + bytes_of(six));
    expect_bits(file.path(), six);
  }
  const Scratch scalar(".npy", array("<f8", "()") + bytes_of(std::vector<double>{2.5}));
  expect_bits(scalar.path(), std::vector<double>{2.5});
  for (const char* shape : {"(0,)", "(3, 0)", "(18446744073709551615, 18446744073709551615, 0)"}) {
    const Scratch none(".npy", array("<f8", shape));
    expect_bits(none.path(), std::vector<double>{});
  }
}

/// The integers as a file has them, in `width` bytes each.
std::string integers(const std::vector<std::int64_t>& values, std::size_t width, std::endian order) {
  std::string result;
  for (const std::int64_t value : values) result += bytes_of(static_cast<std::uint64_t>(value), width, order);
  return result;
}

TEST(Npy, IntegersAreReadAsDoubles) {
  for (const std::size_t width : {1U, 2U, 4U, 8U}) {
    const std::string digit = std::to_string(width);
    const std::int64_t top = std::int64_t{1} << std::min<std::size_t>(8 * width - 1, 62);  // of the largest numbers
    for (const std::endian order : {std::endian::little, std::endian::big}) {
      const std::string mark = width == 1 ? "|" : order == std::endian::little ? "<" : ">";
      const Scratch with_sign(
          ".npy", array(mark + "i" + digit, "(6,)") + integers({-1, 0, 3, top / 2, -top, -(top / 2)}, width, order));
      const auto t = static_cast<double>(top);
      expect_bits(with_sign.path(), std::vector<double>{-1, 0, 3, t / 2, -t, -t / 2});
      EXPECT_EQ(open(with_sign.path())->type(), Type::f64);
      const Scratch without(".npy", array(mark + "u" + digit, "(3,)") + integers({0, top, 200}, width, order));
      expect_bits(without.path(), std::vector<double>{0, t, 200}, {.type = Type::f64});
    }
  }
  const Scratch most(".npy", array("<u4", "(2,)") + bytes_of(0xFFFFFFFF, 4) + bytes_of(0x80000001, 4));
  expect_bits(most.path(), std::vector<double>{4294967295.0, 2147483649.0});
  expect_fault_in(".npy", array("<i4", "(1,)") + bytes_of(1, 4), {"holds integers", "not f32"}, {.type = Type::f32});
}

/// Doubles hold all integers up to 2^53, and of the larger ones those that end in zeros.
TEST(Npy, IntegersThatNoDoubleHolds) {
  constexpr std::uint64_t most = std::uint64_t{1} << 53;
  for (const std::uint64_t good : {most - 1, most, most + 2, most << 10, std::uint64_t{0xFFFFFFFFFFFFF800}}) {
    const Scratch file(".npy", array("<u8", "(1,)") + bytes_of(good, 8));
    expect_bits(file.path(), std::vector<double>{static_cast<double>(good)});
  }
  const Scratch least(".npy", array("<i8", "(1,)") + bytes_of(std::uint64_t{1} << 63, 8));
  expect_bits(least.path(), std::vector<double>{-0x1p63});
  for (const std::uint64_t bad : {most + 1, most * 2 + 1, ~std::uint64_t{0}})
    expect_fault_in(".npy", array("<u8", "(3,)") + bytes_of(1, 8) + bytes_of(bad, 8) + bytes_of(2, 8),
                    {"element 1 is " + std::to_string(bad), "a double cannot hold", "float64"});
  expect_fault_in(".npy", array(">i8", "(1,)") + integers({-9007199254740993}, 8, std::endian::big),
                  {"element 0 is -9007199254740993", "a double cannot hold"});
}

TEST(Npy, FortranOrderWhereItIsTheSame) {
  for (const char* shape : {"(6,)", "(6, 1)", "(1, 6)", "(1, 6, 1)"}) {
    const Scratch file(".npy", array("<f8", shape, "True") + bytes_of(six));
    expect_bits(file.path(), six);
  }
  const Scratch none(".npy", array("<f8", "(3, 0, 2)", "True"));
  expect_bits(none.path(), std::vector<double>{});
}

std::vector<double> counted(std::size_t count) {
  std::vector<double> values(count);
  std::iota(values.begin(), values.end(), 0.0);
  return values;
}

/// Elements 0, 1, 2, ... in C order, as they stand in a file in Fortran order.
std::vector<double> in_fortran_order(const std::vector<std::size_t>& shape) {
  std::vector<double> values = {0};
  std::size_t stride = 1;
  std::vector<std::size_t> strides(shape.size());
  for (std::size_t axis = shape.size(); axis-- > 0; stride *= shape[axis]) strides[axis] = stride;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    const std::vector<double> below = values;
    values.clear();
    for (std::size_t i = 0; i < shape[axis]; ++i)
      for (const double value : below) values.push_back(value + static_cast<double>(i * strides[axis]));
  }
  return values;
}

std::string text_of(const std::vector<std::size_t>& shape) {
  std::string text = "(";
  for (const std::size_t extent : shape) text += std::to_string(extent) + ", ";
  return text + ")";
}

TEST(Npy, FortranOrderIsTurnedIntoC) {
  EXPECT_EQ(bits_of(in_fortran_order({2, 3})), bits_of(std::vector<double>{0, 3, 1, 4, 2, 5}));
  const std::vector<std::vector<std::size_t>> shapes = {{2, 3},    {7, 5},    {5, 1, 7},
                                                        {1, 4, 3}, {3, 4, 5}, {2, 3, 1, 2, 2}};
  for (const auto& shape : shapes) {
    const std::vector<double> stored = in_fortran_order(shape);
    const std::vector<double> due = counted(stored.size());
    const Scratch doubles(".npy", array(">f8", text_of(shape), "True") + bytes_of(stored, std::endian::big));
    expect_bits(doubles.path(), due);
    const Scratch floats(
        ".npy", array("<f4", text_of(shape), "True") + bytes_of(std::vector<float>(stored.begin(), stored.end())));
    expect_bits(floats.path(), std::vector<float>(due.begin(), due.end()));
    const Scratch bytes(".npy", array("|u1", text_of(shape), "True") +
                                    integers({stored.begin(), stored.end()}, 1, std::endian::little));
    expect_bits(bytes.path(), due);
  }
}

/// Columns of more and of less than a page, more than are read at once.
TEST(Npy, FortranOrderOfManyElements) {
  for (const auto& shape : std::vector<std::vector<std::size_t>>{{700, 60}, {60, 700}, {40000, 2}, {2, 40000}}) {
    const Scratch file(".npy", array("<f8", text_of(shape), "True") + bytes_of(in_fortran_order(shape)));
    const std::vector<std::uint64_t> due = bits_of(counted(shape[0] * shape[1]));
    for (const std::uint64_t parts : {1U, 3U, 7U})
      EXPECT_TRUE(bits_of(read_in_parts(file.path(), parts)) == due) << text_of(shape) << " in " << parts << " parts";
  }
}

TEST(Npy, IsKnownByItsContent) {
  const std::string content = array("<f8", "(6,)") + bytes_of(six);
  const Scratch file(".data", content);
  EXPECT_EQ(open(file.path())->format(), Format::npy);
  for (const char* other : {".raw", ".binpsllh", ".psllh", ".csv"})
    expect_fault_in(other, content, {"its content is npy", other + 1});
  expect_fault_in(".npy", binpsllh(six), {"does not begin like an npy file"});
}

TEST(Npy, OtherTypes) {
  for (const char* descr :
       {"<f2", "<f16", "|b1", "<c16", "<U8", "|O", "f8", "", "<", "|f8", "|i2", "<i16", "<u3", "i4"})
    expect_fault_in(".npy", array(descr, "(6,)") + bytes_of(six), {"'" + std::string(descr) + "'", "float64"});
  expect_fault_in(".npy", header("{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (6,), }") + bytes_of(six),
                  {"records"});
  expect_fault_in(".npy", array("<f8", "(6,)") + bytes_of(six), {"holds f64, not f32"}, {.type = Type::f32});
}

TEST(Npy, SizesThatDoNotFit) {
  const std::string good = array("<f8", "(6,)") + bytes_of(six);
  for (std::size_t size = 6; size < good.size(); ++size) expect_fault_in(".npy", good.substr(0, size), {"truncated"});
  expect_fault_in(".npy", good.substr(0, 5), {"does not begin like"});
  expect_fault_in(".npy", "", {"empty"});
  expect_fault_in(".npy", good + "x", {"too long", "6 elements", "49 bytes follow"});
}

TEST(Npy, CountsThatNoMemoryHolds) {
  for (const char* shape : {"(2305843009213693958,)", "(1099511627776,)", "(4294967296, 4294967295)"})
    expect_fault_in(".npy", array("<f8", shape) + bytes_of(six), {"truncated"});
  expect_fault_in(".npy", array("<f8", "(4294967296, 4294967296)") + bytes_of(six), {"more than 2^64 elements"});
  for (const char* shape : {"(18446744073709551616,)", "(-1,)", "(-6,)", "(6.0,)", "(None,)", "6", "[6]", "(6", "(,)"})
    expect_fault_in(".npy", array("<f8", shape) + bytes_of(six), {"cannot be understood"});
}

TEST(Npy, HeadersThatAreNone) {
  for (const char* text :
       {"", "{", "{}x", "{'descr'}", "{'descr': 8}", "{'descr': '<f8}", "{'fortran_order': Maybe}", "[]"})
    expect_fault_in(".npy", header(text) + bytes_of(six), {"cannot be understood"});
  expect_fault_in(".npy", header("{}") + bytes_of(six), {"lacks descr"});
  expect_fault_in(".npy", header("{'descr': '<f8', 'shape': (6,)}") + bytes_of(six), {"lacks"});
  expect_fault_in(".npy", header("{'colour': 'blue'}"), {"unknown key 'colour'"});
  const std::string fourth(
      "\x93NUMPY\x04\x00\x10\x00"
      "0123456789abcdef",
      26);
  expect_fault_in(".npy", fourth, {"version 4"});
  const std::string huge = bytes_of(std::uint64_t{2} << 20, 4);
  const std::string start("\x93NUMPY\x02\x00", 8);
  expect_fault_in(".npy", start + huge + "{}", {"truncated", "2097152"});
  expect_fault_in(".npy", start + huge + std::string(std::size_t{2} << 20, ' '), {"too long for an array"});
}

}  // namespace
}  // namespace steadfold::readers::testing::npy_test
