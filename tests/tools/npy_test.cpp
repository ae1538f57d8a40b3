// npy files written by hand: every version and type that is read, every header that is not.
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

TEST(Npy, FortranOrderOnlyWhereItIsTheSame) {
  for (const char* shape : {"(6,)", "(6, 1)", "(1, 6)"}) {
    const Scratch file(".npy", array("<f8", shape, "True") + bytes_of(six));
    expect_bits(file.path(), six);
  }
  expect_fault_in(".npy", array("<f8", "(2, 3)", "True") + bytes_of(six), {"Fortran order", "ascontiguousarray"});
}

TEST(Npy, IsKnownByItsContent) {
  const std::string content = array("<f8", "(6,)") + bytes_of(six);
  const Scratch file(".data", content);
  EXPECT_EQ(open(file.path())->format(), Format::npy);
  for (const char* other : {".raw", ".binpsllh", ".psllh", ".csv"})
    expect_fault_in(other, content, {"its content npy", other + 1});
  expect_fault_in(".npy", binpsllh(six), {"does not begin like an npy file"});
}

TEST(Npy, OtherTypes) {
  for (const char* descr : {"<i8", "<f2", "<f16", "|b1", "<c16", "<U8", "|O", "f8", "", "<"})
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
  expect_fault_in(".npy", start + huge + std::string(std::size_t{2} << 20, ' '), {"no array's"});
}

}  // namespace
}  // namespace steadfold::readers::testing::npy_test
