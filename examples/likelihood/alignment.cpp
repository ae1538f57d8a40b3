// The simulated alignment; see alignment.hpp. Generator: SplitMix64 (Steele, Lea, Flood 2014), used as a hash of
// counters.
#include "alignment.hpp"

#include <cmath>

namespace likelihood {
namespace {

constexpr std::uint64_t seed = 504'850;

std::uint64_t mix(std::uint64_t x) {
  x += 0x9E3779B97F4A7C15;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
  return x ^ (x >> 31);
}

std::uint64_t draw(std::uint64_t site, std::uint64_t number) { return mix(mix(mix(seed) ^ site) ^ number); }

double to_unit_interval(std::uint64_t random) { return static_cast<double>(random >> 11) * 0x1p-53; }
std::uint8_t to_nucleotide(std::uint64_t random) { return random & 3; }

}  // namespace

std::vector<Site> simulate(std::uint64_t begin, std::uint64_t end) {
  const auto branches = true_branches();
  std::array<double, branch_count> unchanged{};  // the probability that nothing happens along a branch
  for (std::size_t b = 0; b < branch_count; ++b) unchanged[b] = std::exp(-4.0 / 3.0 * branches[b].length);

  std::vector<Site> sites(end - begin);
  for (std::uint64_t s = begin; s < end; ++s) {
    std::array<std::uint8_t, node_count> state{};
    state[true_root] = to_nucleotide(draw(s, branch_count));
    for (std::size_t b = 0; b < branch_count; ++b) {
      // A substitution takes any of the four nucleotides, the old one too: that is Jukes-Cantor, with no division. The
      // bits that choose it are none of those that decide whether there is one.
      const std::uint64_t random = draw(s, b);
      const auto upper = static_cast<std::size_t>(branches[b].upper);
      const auto lower = static_cast<std::size_t>(branches[b].lower);
      state[lower] = to_unit_interval(random) < unchanged[b] ? state[upper] : to_nucleotide(random);
    }
    for (std::size_t t = 0; t < taxon_count; ++t) sites[s - begin][t] = state[t];
  }
  return sites;
}

}  // namespace likelihood
