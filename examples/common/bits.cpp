// Digests and marks; see bits.hpp.
#include "common/bits.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <bit>

namespace example {

std::string to_bits(double value) { return fmt::format("{:016X}", std::bit_cast<std::uint64_t>(value)); }

double Fingerprint::add(double value) {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  for (int shift = 0; shift < 64; shift += 8) digest_ = (digest_ ^ ((bits >> shift) & 0xFF)) * 0x100000001B3;
  return value;
}

std::string Fingerprint::text() const { return fmt::format("{:016X}", digest_); }

std::string marked(const std::string& text, const std::string& first) {
  if (text == first) return text + " ";
  return isatty(STDOUT_FILENO) == 1 ? "\033[31m" + text + "*\033[0m" : text + "*";
}

std::string short_name(std::string library) {
  library.resize(std::min(library.find_first_of(",\n"), library.size()));
  std::replace(library.begin(), library.end(), '\t', ' ');
  return library;
}

}  // namespace example
