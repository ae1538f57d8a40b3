// Messages of [S0] without a buffer on 256 ranks, by the number of elements, and its bound for `lower`.
// Source: [S0] figure 2.3, equation 2.5.
#include <cmath>
#include <set>

#include "order/distribution.hpp"
#include "thesis.hpp"
#include "tools/spread.hpp"

namespace steadfold::command::studies::thesis {
namespace {

using order::Count;

constexpr int figure_ranks = 256;
constexpr int doublings = 14;  // of the elements, from one per rank on
constexpr int between = 8;     // numbers of elements from one doubling to the next

/// Evenly spaced on a logarithmic axis, and an element more where every rank has a power of two, which is a peak.
std::set<Count> element_counts(Count largest) {
  std::set<Count> counts;
  for (int i = 0; i <= doublings * between; ++i) {
    const auto count = static_cast<Count>(std::round(figure_ranks * std::exp2(static_cast<double>(i) / between)));
    counts.insert(count);
    if (i % between == 0) counts.insert(count + 1);
  }
  std::erase_if(counts, [&](Count count) { return count > largest; });
  return counts;
}

/// Equation 2.5, which holds for more elements than ranks.
Json bound_of(const std::string& distribution, Count elements) {
  if (distribution != "lower" || elements <= Count{figure_ranks}) return {};
  return (figure_ranks - 1) * (std::log2(static_cast<double>(elements - 1) / figure_ranks) + 1);
}

}  // namespace

Findings messages(const Asked& asked) {
  Findings found;
  for (const std::string distribution : {"lower", "upper"}) {
    for (const Count elements : element_counts(asked.largest)) {
      const std::vector<Count> counts = spread(distribution, elements, figure_ranks);
      found.rows.push_back({{"part", "messages"},
                            {"distribution", distribution},
                            {"elements", elements},
                            {"ranks", figure_ranks},
                            {"nodes", order::pe_intersecting_nodes(order::starts_of(counts), elements)},
                            {"bound", bound_of(distribution, elements)}});
    }
  }
  return found;
}

}  // namespace steadfold::command::studies::thesis
