// Bytes as text, for failure messages and comparisons.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace steadfold::test {

/// Two hexadecimal digits per byte, in the order of memory, with a blank before every eighth byte except the first.
inline std::string hex(std::span<const std::byte> bytes) {
  constexpr const char* digits = "0123456789ABCDEF";
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const auto byte = std::to_integer<unsigned>(bytes[i]);
    if (i % 8 == 0 && i > 0) text += ' ';
    text += digits[byte / 16];
    text += digits[byte % 16];
  }
  return text;
}

}  // namespace steadfold::test
