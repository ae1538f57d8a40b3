// Damaged files: whatever bytes are changed, cut or added, the readers end in values or in one Error, on one part and
// on three alike, and never read or allocate beyond what the file holds.
#include <cstdlib>
#include <random>

#include "scratch.hpp"

namespace steadfold::readers::testing::fuzz_test {
namespace {

struct Kind {
  const char* extension;
  std::string content;
  Options options;
};

std::vector<Kind> kinds() {
  const std::vector<double> values = hostile_values();
  const auto npy = [](const std::string& dictionary, const std::string& bytes) {
    return std::string("\x93NUMPY\x01\x00", 8) + bytes_of(dictionary.size(), 2) + dictionary + bytes;
  };
  const std::string text = "8\n1.5 -2e10\n0.1 nan inf\n1e-320 7 -0.0\n";
  const std::string csv = "a,\"b, c\",d\r\n1,2.5,x\r\n3,\"-4e5\",\"y, \"\"z\"\"\"\r\n5,6,\r\n";
  const std::string tsv = "a\t\"b, c\"\td\r\n1\t2.5\tx\r\n3\t\"-4e5\"\t\r\n5\t6\t\"y, \"\"z\"\"\"\r\n";
  return {{".npy", npy("{'descr': '<f8', 'fortran_order': False, 'shape': (15,), }", bytes_of(values)), {}},
          {".npy", npy("{'descr': '>f8', 'fortran_order': True, 'shape': (5, 3), }", bytes_of(values)), {}},
          {".npy", npy("{'descr': '<i4', 'fortran_order': True, 'shape': (3, 2, 5), }", bytes_of(values)), {}},
          {".binpsllh", binpsllh(values), {}},
          {".raw", bytes_of(values), {}},
          {".psllh", text, {.block_bytes = 5}},
          {".csv", csv, {.column = "1", .block_bytes = 5}},
          {".tsv", tsv, {.column = "1", .block_bytes = 5}}};
}

std::string damaged(std::string content, std::mt19937_64& random) {
  // Bytes that mean something somewhere come more often than chance would bring them.
  static constexpr char telling[] = "\0\xFF\n\r\t \",'(){}:-+.eE0123456789<>nfN\x93";
  const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
  for (std::size_t changes = 1 + below(4); changes > 0; --changes) {
    const std::size_t place = below(content.size() + 1);
    const char byte = random() % 2 == 0 ? telling[below(sizeof telling)] : static_cast<char>(random() & 0xFF);
    switch (random() % 5) {
      case 0: content.resize(place); break;
      case 1: content.insert(place, 1 + below(9), byte); break;
      case 2: content.erase(place, 1 + below(9)); break;
      default:
        if (place < content.size()) content[place] = byte;
    }
  }
  return content;
}

/// What comes of a file: its bits, or the words of the fault.
std::string outcome(const std::string& path, const Options& options, std::uint64_t parts) {
  try {
    std::string result = "values";
    for (const std::uint64_t bits : bits_of(read_in_parts(path, parts, options))) result += " " + std::to_string(bits);
    return result;
  } catch (const Error& error) {
    expect_fault(error.what(), {});
    return "fault";
  }
}

TEST(Fuzz, ValuesOrOneError) {
  const int rounds = std::getenv("STEADFOLD_FULL") != nullptr ? 100000 : 4000;
  const std::uint64_t seed = 20220701;
  std::mt19937_64 random(seed);
  for (const Kind& kind : kinds()) {
    int faults = 0;
    for (int i = 0; i < rounds && !::testing::Test::HasFailure(); ++i) {
      const Scratch file(kind.extension, damaged(kind.content, random));
      const std::string alone = outcome(file.path(), kind.options, 1);
      EXPECT_EQ(outcome(file.path(), kind.options, 3), alone) << kind.extension << ", seed " << seed << ", round " << i;
      faults += alone == "fault" ? 1 : 0;
    }
    EXPECT_GT(faults, 0) << kind.extension;
    EXPECT_LT(faults, rounds) << kind.extension;
  }
}

}  // namespace
}  // namespace steadfold::readers::testing::fuzz_test
