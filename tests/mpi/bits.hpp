// Bits compared as integers, and printed as such.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

namespace steadfold::tests {

/// The bytes of a value as hexadecimal, the highest first.
template <class T>
std::string hex(const T& value) {
  std::array<unsigned char, sizeof(T)> bytes;
  std::memcpy(bytes.data(), &value, sizeof value);
  std::string text;
  for (std::size_t i = bytes.size(); i-- > 0;) {
    text += "0123456789ABCDEF"[bytes[i] >> 4];
    text += "0123456789ABCDEF"[bytes[i] & 15];
  }
  return text;
}

template <class T>
bool same_bits(const T& a, const T& b) {
  return std::memcmp(&a, &b, sizeof a) == 0;
}

/// EXPECT_TRUE(is(found, wanted)) << context
template <class T>
testing::AssertionResult is(const T& found, const T& wanted) {
  if (same_bits(found, wanted)) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "found " << hex(found) << ", wanted " << hex(wanted) << " ";
}

/// The first of two vectors' elements that differs.
template <class T>
testing::AssertionResult are(std::span<const T> found, std::span<const T> wanted) {
  if (found.size() != wanted.size())
    return testing::AssertionFailure() << found.size() << " elements, wanted " << wanted.size() << " ";
  for (std::size_t i = 0; i < found.size(); ++i)
    if (!same_bits(found[i], wanted[i])) return is(found[i], wanted[i]) << "at " << i << " of " << found.size() << " ";
  return testing::AssertionSuccess();
}

template <class T>
testing::AssertionResult are(const std::vector<T>& found, const std::vector<T>& wanted) {
  return are(std::span<const T>(found), std::span<const T>(wanted));
}

inline double double_of(std::uint64_t bits) { return std::bit_cast<double>(bits); }
inline float float_of(std::uint32_t bits) { return std::bit_cast<float>(bits); }

}  // namespace steadfold::tests
