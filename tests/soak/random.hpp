// Random integers that are the same with every compiler and standard library.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <random>

namespace steadfold::soak {

/// Makes one seed of several numbers. Every bit of them counts.
inline std::uint64_t mixed(std::uint64_t a, std::uint64_t b, std::uint64_t c = 0) {
  std::uint64_t hash = 0;
  for (const std::uint64_t word : {a, b, c}) {
    hash += word + 0x9E3779B97F4A7C15u;
    hash = (hash ^ hash >> 30) * 0xBF58476D1CE4E5B9u;
    hash = (hash ^ hash >> 27) * 0x94D049BB133111EBu;
    hash ^= hash >> 31;
  }
  return hash;
}

class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}

  std::uint64_t bits() { return engine_(); }
  /// A number from 0 to count - 1; `count` is at least 1.
  std::uint64_t below(std::uint64_t count) { return engine_() % count; }
  /// A number from `least` to `most`.
  std::uint64_t from_to(std::uint64_t least, std::uint64_t most) { return least + below(most - least + 1); }
  bool one_in(std::uint64_t count) { return below(count) == 0; }
  template <class Values>
  const auto& one_of(const Values& values) {
    return values[below(std::size(values))];
  }
  template <class T>
  T one_of(std::initializer_list<T> values) {
    return values.begin()[below(values.size())];
  }

 private:
  std::mt19937_64 engine_;  // the standard fixes its output, but not that of distributions
};

}  // namespace steadfold::soak
