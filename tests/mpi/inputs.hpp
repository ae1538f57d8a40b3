// Inputs made from a seed, the same on every rank and under every MPI library: layouts, ordinary and hostile numbers.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "steadfold/steadfold.hpp"

namespace steadfold::tests {

using Random = std::mt19937_64;

/// 0 .. below - 1; `below` is at least 1.
inline std::size_t draw(Random& random, std::size_t below) { return static_cast<std::size_t>(random() % below); }

/// What each rank holds, in the order of its memory.
using Ownership = std::vector<std::vector<Interval>>;

/// In rank order, `counts` elements per rank.
inline Ownership in_rank_order(const std::vector<std::size_t>& counts) {
  Ownership ownership;
  std::uint64_t begin = 0;
  for (const std::size_t count : counts) {
    ownership.push_back({{begin, begin + count}});
    begin += count;
  }
  return ownership;
}

inline std::vector<std::size_t> even_counts(std::size_t n, std::size_t ranks, bool more_on_lower) {
  std::vector<std::size_t> counts(ranks, n / ranks);
  for (std::size_t i = 0; i < n % ranks; ++i) counts[more_on_lower ? i : ranks - 1 - i] += 1;
  return counts;
}

/// Any counts; about one rank in four has none.
inline std::vector<std::size_t> random_counts(std::size_t n, std::size_t ranks, Random& random) {
  std::vector<std::size_t> cuts = {0, n};
  while (cuts.size() <= ranks)
    cuts.push_back(draw(random, 4) == 0 ? cuts[draw(random, cuts.size())] : draw(random, n + 1));
  std::sort(cuts.begin(), cuts.end());
  std::vector<std::size_t> counts;
  for (std::size_t i = 0; i < ranks; ++i) counts.push_back(cuts[i + 1] - cuts[i]);
  return counts;
}

/// Cut into about `pieces` intervals, each on a random rank, in any order there; rank 0 has none where `spare_first`.
inline Ownership shuffled(std::size_t n, std::size_t ranks, std::size_t pieces, bool spare_first, Random& random) {
  std::vector<std::size_t> cuts = {0, n};
  while (cuts.size() <= pieces) cuts.push_back(draw(random, n + 1));
  std::sort(cuts.begin(), cuts.end());
  Ownership ownership(ranks);
  const std::size_t first = spare_first && ranks > 1 ? 1 : 0;
  for (std::size_t i = 0; i + 1 < cuts.size(); ++i) {
    auto& mine = ownership[first + draw(random, ranks - first)];
    const Interval piece{cuts[i], cuts[i + 1]};  // now and then an empty one
    mine.insert(mine.begin() + static_cast<std::ptrdiff_t>(draw(random, mine.size() + 1)), piece);
  }
  return ownership;
}

/// One layout of each sort, by name.
struct NamedOwnership {
  std::string name;
  Ownership ownership;
};

inline std::vector<NamedOwnership> sorts_of_layouts(std::size_t n, std::size_t ranks, Random& random) {
  std::vector<std::size_t> last(ranks, 0);
  last.back() = n;
  return {{"lower", in_rank_order(even_counts(n, ranks, true))},
          {"upper", in_rank_order(even_counts(n, ranks, false))},
          {"random", in_rank_order(random_counts(n, ranks, random))},
          {"all on the last rank", in_rank_order(last)},
          {"shuffled", shuffled(n, ranks, std::min<std::size_t>(n, 3 * ranks), false, random)},
          {"shuffled, rank 0 empty", shuffled(n, ranks, std::min<std::size_t>(n, 40), true, random)}};
}

/// This rank's elements out of all.
template <class T>
std::vector<T> pick(const std::vector<T>& all, const std::vector<Interval>& intervals) {
  std::vector<T> mine;
  for (const Interval i : intervals)
    mine.insert(mine.end(), all.begin() + static_cast<std::ptrdiff_t>(i.begin),
                all.begin() + static_cast<std::ptrdiff_t>(i.end));
  return mine;
}

/// A floating-point number of a random sign, with an exponent from `least` to `most`.
template <std::floating_point T>
T number(Random& random, int least, int most) {
  const double fraction = 1.0 + static_cast<double>(random() >> 12) * 0x1p-52;
  const int exponent = least + static_cast<int>(draw(random, static_cast<std::size_t>(most - least) + 1));
  const auto size = static_cast<T>(std::ldexp(fraction, exponent));
  return random() % 2 == 0 ? size : -size;
}

/// Numbers of which every order of adding gives other bits: exponents far apart, much of it cancelling.
template <class T>
std::vector<T> numbers(std::size_t n, Random& random) {
  std::vector<T> x(n);
  for (std::size_t i = 0; i < n; ++i) {
    if constexpr (std::integral<T>) {
      x[i] = static_cast<T>(random());
    } else if (i > 0 && random() % 4 == 0) {
      x[i] = -x[draw(random, i)];
    } else {
      x[i] = number<T>(random, -20, 20);
    }
  }
  return x;
}

/// Over the whole range of the format, subnormal numbers and now and then a zero included.
template <std::floating_point T>
std::vector<T> wide_numbers(std::size_t n, Random& random) {
  using Limits = std::numeric_limits<T>;
  std::vector<T> x(n);
  for (std::size_t i = 0; i < n; ++i) {
    x[i] = number<T>(random, Limits::min_exponent - Limits::digits, Limits::max_exponent - 12);
    if (i > 0 && random() % 4 == 0) x[i] = -x[draw(random, i)];
    if (random() % 16 == 0) x[i] = random() % 2 == 0 ? T{0} : -T{0};
  }
  return x;
}

/// Inputs that other libraries got wrong, by name.
struct Hostile {
  std::string name;
  std::vector<double> x;
};

inline std::vector<Hostile> hostile_inputs() {
  const double infinity = std::numeric_limits<double>::infinity();
  const double largest = std::numeric_limits<double>::max();
  const double least = std::numeric_limits<double>::denorm_min();
  const auto nan = [](std::uint64_t payload) { return std::bit_cast<double>(0x7FF0000000000000u | payload); };
  const auto minus_nan = [](std::uint64_t payload) { return std::bit_cast<double>(0xFFF0000000000000u | payload); };
  std::vector<double> alternating;
  for (int i = 0; i < 33; ++i) alternating.push_back(i % 2 == 0 ? 0.0 : -0.0);
  return {{"nothing", {}},
          {"one", {1.5}},
          {"one -0.0", {-0.0}},
          {"two", {0.1, 0.2}},
          {"-0.0 only", std::vector<double>(13, -0.0)},
          {"zeros of both signs", alternating},
          {"x and -x", {0.1, -0.1}},
          {"NaNs", {1.0, nan(0x8000000000001), minus_nan(0x8000000000002), 2.0, nan(0x4000000000000)}},
          {"a signalling NaN", {nan(1)}},
          {"-NaN last", {3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, minus_nan(0x8000000000000)}},
          {"inf", {infinity}},
          {"inf among numbers", {1.0, 2.0, infinity, -3.0}},
          {"inf and -inf", {infinity, -infinity}},
          {"-inf and NaN", {-infinity, nan(0x8000000000005), 1.0}},
          {"beyond the range and back", {largest, largest, -largest}},
          {"beyond the range", {largest, largest}},
          {"below -range", {-largest, -largest, -largest}},
          {"half an ulp beyond the range", {largest, 0x1p970}},
          {"just below that", {largest, 0x1p970, -least}},
          {"2^-1074 a thousand times", std::vector<double>(1000, least)},
          {"subnormal and normal", {least, -0x1p-1022, 0x1p-1023, least}},
          {"1e60, 1, -1e60", {1e60, 1.0, -1e60}},
          {"ties", {1.0, 0x1p-53, 0x1p-106}},
          {"ties to even", {1.0, 0x1p-53}},
          {"0.1 seventy-nine times", std::vector<double>(79, 0.1)}};
}

}  // namespace steadfold::tests
