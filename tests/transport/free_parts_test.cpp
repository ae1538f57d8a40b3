// The free parts of a window, against a list of single units: first fit, and what touches is one part again.
#include "transport/free_parts.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace steadfold::transport::free_parts_test {
namespace {

constexpr std::uint64_t seed = 20261125;

/// Units, each free or not.
class Units {
 public:
  explicit Units(std::size_t count) : free_(count, true) {}

  std::optional<std::uint64_t> take(std::uint64_t count) {
    const auto found = std::search_n(free_.begin(), free_.end(), count, true);
    if (found == free_.end()) return std::nullopt;
    std::fill_n(found, count, false);
    return static_cast<std::uint64_t>(found - free_.begin());
  }
  void give_back(std::uint64_t first, std::uint64_t count) {
    std::fill_n(free_.begin() + static_cast<std::ptrdiff_t>(first), count, true);
  }

 private:
  std::vector<bool> free_;
};

TEST(FreeParts, AreThoseOfSingleUnits) {
  constexpr std::uint64_t all = 60;
  FreeParts parts(all);
  Units units(all);
  struct Part {
    std::uint64_t first, count;
  };
  std::vector<Part> taken;
  std::mt19937_64 random(seed);
  int refused = 0;
  for (int step = 0; step < 20000; ++step) {
    if (taken.empty() || random() % 2 == 0) {
      const std::uint64_t count = 1 + random() % 9;
      const auto found = parts.take(count);
      ASSERT_EQ(found, units.take(count)) << "seed " << seed << ", step " << step;
      if (found)
        taken.push_back({*found, count});
      else
        refused += 1;
    } else {
      std::swap(taken[random() % taken.size()], taken.back());
      parts.give_back(taken.back().first, taken.back().count);
      units.give_back(taken.back().first, taken.back().count);
      taken.pop_back();
    }
  }
  EXPECT_GT(refused, 100) << "the control: parts must be in short supply";
  for (const Part& part : taken) parts.give_back(part.first, part.count);
  EXPECT_EQ(parts.take(all), 0u);
}

}  // namespace
}  // namespace steadfold::transport::free_parts_test
