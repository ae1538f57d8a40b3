// What the tests of the readers share: files that go away by themselves, reading in parts, faults as text, bytes.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <bit>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "readers/reader.hpp"

namespace steadfold::readers::testing {

/// A file with the given content, gone at the end of the scope.
class Scratch {
 public:
  Scratch(const std::string& extension, std::string_view content) {
    static int number = 0;
    path_ =
        ::testing::TempDir() + "steadfold_" + std::to_string(::getpid()) + "_" + std::to_string(number++) + extension;
    std::ofstream(path_, std::ios::binary) << content;
  }
  ~Scratch() { std::remove(path_.c_str()); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  const std::string& path() const noexcept { return path_; }

 private:
  std::string path_;
};

inline std::string bytes_of(std::uint64_t word, std::size_t width, std::endian order = std::endian::little) {
  std::string result(width, '\0');
  for (std::size_t i = 0; i < width; ++i) {
    const std::size_t place = order == std::endian::little ? i : width - 1 - i;
    result[place] = static_cast<char>(word >> (8 * i) & 0xFF);
  }
  return result;
}

inline std::string bytes_of(const std::vector<double>& values, std::endian order = std::endian::little) {
  std::string result;
  for (const double value : values) result += bytes_of(std::bit_cast<std::uint64_t>(value), 8, order);
  return result;
}

inline std::string bytes_of(const std::vector<float>& values, std::endian order = std::endian::little) {
  std::string result;
  for (const float value : values) result += bytes_of(std::bit_cast<std::uint32_t>(value), 4, order);
  return result;
}

inline std::string binpsllh(const std::vector<double>& values) { return bytes_of(values.size(), 8) + bytes_of(values); }

inline std::vector<std::uint64_t> bits_of(const std::vector<double>& values) {
  std::vector<std::uint64_t> result;
  for (const double value : values) result.push_back(std::bit_cast<std::uint64_t>(value));
  return result;
}

inline std::vector<std::uint64_t> bits_of(const std::vector<float>& values) {
  std::vector<std::uint64_t> result;
  for (const float value : values) result.push_back(std::bit_cast<std::uint32_t>(value));
  return result;
}

/// Both passes as `parts` ranks make them, each with a source of its own, and what they found, one behind the other.
template <class T = double>
std::vector<T> read_in_parts(const std::string& path, std::uint64_t parts, const Options& options = {}) {
  std::vector<std::uint64_t> counts;
  for (std::uint64_t part = 0; part < parts; ++part) counts.push_back(open(path, options)->count(part, parts));
  std::vector<T> result;
  for (std::uint64_t part = 0; part < parts; ++part) {
    const auto source = open(path, options);
    source->set_counts(counts);
    // Not the parts of pass 1: ranks hold what the layout gives them.
    const std::uint64_t n = source->element_count();
    const std::uint64_t begin = n * part / parts;
    std::vector<T> mine(n * (part + 1) / parts - begin);
    source->read(begin, std::span<T>(mine));
    result.insert(result.end(), mine.begin(), mine.end());
  }
  return result;
}

template <class T>
void expect_bits(const std::string& path, const std::vector<T>& expected, Options options = {}) {
  for (const std::size_t block : {std::size_t{1}, std::size_t{3}, std::size_t{7}, std::size_t{1} << 18}) {
    options.block_bytes = block;
    for (std::uint64_t parts = 1; parts <= 8; ++parts) {
      EXPECT_EQ(bits_of(read_in_parts<T>(path, parts, options)), bits_of(expected))
          << path << " in " << parts << " parts, blocks of " << block;
    }
  }
}

/// The text of the Error that both passes over the file end in, or "" when they end well.
inline std::string fault_of(const std::string& path, const Options& options = {}, std::uint64_t parts = 2) {
  try {
    if (options.type == Type::f32)
      read_in_parts<float>(path, parts, options);
    else
      read_in_parts<double>(path, parts, options);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

/// One line, of the form "problem (why), suggestion", that says all of `words`.
inline void expect_fault(const std::string& text, const std::vector<std::string>& words) {
  EXPECT_NE(text, "") << "no fault was found";
  EXPECT_EQ(text.find('\n'), std::string::npos) << text;
  const std::size_t open = text.find(" (");
  EXPECT_NE(open, std::string::npos) << text;
  EXPECT_NE(text.find("), ", open), std::string::npos) << text;
  for (const std::string& word : words)
    EXPECT_NE(text.find(word), std::string::npos) << "'" << word << "' not in: " << text;
}

inline void expect_fault_in(const std::string& extension, std::string_view content,
                            const std::vector<std::string>& words, const Options& options = {}) {
  const Scratch file(extension, content);
  for (const std::uint64_t parts : {1U, 2U, 5U}) {
    const std::string text = fault_of(file.path(), options, parts);
    expect_fault(text, words);
    EXPECT_NE(text.find(file.path()), std::string::npos) << text;
  }
}

/// Numbers with all bits in use, whose text forms differ in length.
inline std::vector<double> hostile_values() {
  return {0.0,
          -0.0,
          1.0,
          -1.5,
          1e60,
          -1e60,
          4.9406564584124654e-324,
          2.2250738585072014e-308,
          1.0e22,
          0.1,
          -1.0e-7,
          1.0 / 3,
          7,
          123456789.123456789,
          1.7976931348623157e308};
}

}  // namespace steadfold::readers::testing
