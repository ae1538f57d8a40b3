// Which rank holds which elements of an array that is distributed over a grid of ranks. The owner of each element is
// found from the definition alone.
#pragma once

#include <array>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace steadfold::test {

struct DealtAxis {
  std::uint64_t extent = 1;
  std::uint64_t ranks = 1;
  std::uint64_t block = 0;  // 0: one block per rank; the first blocks have one element more
  std::uint64_t first = 0;

  std::uint64_t owner(std::uint64_t index) const {
    std::uint64_t place = 0;
    if (block > 0) {
      place = index / block;
    } else {
      for (std::uint64_t left = index; left >= share(place); ++place) left -= share(place);
    }
    return (place + first) % ranks;
  }

 private:
  std::uint64_t share(std::uint64_t place) const { return extent / ranks + (place < extent % ranks ? 1 : 0); }
};

struct Dealt {
  std::vector<DealtAxis> axes;  // the last axis varies fastest, for elements and for ranks

  std::uint64_t elements() const {
    std::uint64_t all = 1;
    for (const DealtAxis& axis : axes) all *= axis.extent;
    return all;
  }
  std::uint64_t ranks() const {
    std::uint64_t all = 1;
    for (const DealtAxis& axis : axes) all *= axis.ranks;
    return all;
  }
  std::uint64_t owner(std::uint64_t element) const {
    std::uint64_t rank = 0;
    std::uint64_t rest = elements();
    for (const DealtAxis& axis : axes) {
      rest /= axis.extent;
      rank = rank * axis.ranks + axis.owner(element / rest);
      element %= rest;
    }
    return rank;
  }
  /// The intervals of every rank, each as long as possible.
  template <class Interval>
  std::vector<std::vector<Interval>> lists() const {
    std::vector<std::vector<Interval>> all(ranks());
    for (std::uint64_t i = 0; i < elements(); ++i) {
      auto& mine = all[owner(i)];
      if (mine.empty() || mine.back().end != i) mine.push_back({i, i});
      mine.back().end = i + 1;
    }
    return all;
  }
  std::string text() const {
    std::string text;
    for (const DealtAxis& axis : axes)
      text += "extent " + std::to_string(axis.extent) + " ranks " + std::to_string(axis.ranks) + " block " +
              std::to_string(axis.block) + " first " + std::to_string(axis.first) + "; ";
    return text;
  }
};

/// A random rule for `ranks` ranks, with about `most` elements at most. Some rules have axes without elements, fewer
/// blocks than ranks, or blocks that do not divide the axis evenly.
inline Dealt some_deal(std::mt19937_64& random, std::uint64_t ranks, std::uint64_t most) {
  Dealt deal;
  deal.axes.resize(1 + random() % 3);
  for (DealtAxis& axis : deal.axes) {
    std::vector<std::uint64_t> divisors;
    for (std::uint64_t d = 1; d <= ranks; ++d)
      if (ranks % d == 0) divisors.push_back(d);
    axis.ranks = &axis == &deal.axes.back() ? ranks : divisors[random() % divisors.size()];
    ranks /= axis.ranks;
    const std::uint64_t extent = random() % 20 == 0 ? 0 : 1 + random() % most;
    axis.extent = extent;
    most = most / (extent + 1) + 1;
    axis.block = random() % 2 == 0 ? 0 : 1 + random() % (extent + 3);
    if (random() % 2 == 0 && axis.block > 4) axis.block = 1 + random() % 4;
    axis.first = random() % 2 == 0 ? 0 : random() % axis.ranks;
  }
  return deal;
}

}  // namespace steadfold::test
