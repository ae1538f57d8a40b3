// The bits of results, and how they are shown.
#pragma once

#include <cstdint>
#include <string>

namespace example {

/// The IEEE-754 pattern as 16 hexadecimal digits.
std::string to_bits(double value);

/// A digest (FNV-1a, 64 bits) of a sequence of doubles.
class Fingerprint {
 public:
  double add(double value);  ///< returns it
  std::string text() const;

 private:
  std::uint64_t digest_ = 0xCBF29CE484222325;
};

/// `text` with a mark behind it if it is not `first`, on a terminal in red too; else with a space.
std::string marked(const std::string& text, const std::string& first);

/// An MPI library's name and version, without its origin.
std::string short_name(std::string library);

}  // namespace example
