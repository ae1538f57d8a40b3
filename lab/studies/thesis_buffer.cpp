// The message buffer of [S0]'s own scheme: messages and predicted times, one flush threshold after the other.
// Source: [S0] section 3.1.1 (four nodes; before a root over more than 64 elements is begun the buffer leaves) and
// figure B.1, of which only the caption is available.
#include <fmt/format.h>

#include "order/distribution.hpp"
#include "order/pe_intersecting.hpp"
#include "thesis.hpp"
#include "tools/spread.hpp"

namespace steadfold::command::studies::thesis {
namespace {

constexpr order::Count elements = 504850;
constexpr int rank_counts[] = {256, 1280};
constexpr int buffer = 4;
constexpr order::Count thresholds[] = {1, 4, 16, 64, 256, 1024, elements};

Json row_with(const std::string& distribution, const std::vector<order::Count>& counts, order::Count held,
              const transport::LogGP& link) {
  const auto prediction = prediction_of(fmt::format("owner:buffer={}:held={}", buffer, held), counts, link);
  const order::Count nodes = order::pe_intersecting_nodes(order::starts_of(counts), elements);
  const auto messages = static_cast<double>(prediction.messages.value());
  const bool is_theirs = held == 64;
  return {{"part", "buffer"},
          {"elements", elements},
          {"ranks", counts.size()},
          {"distribution", distribution},
          {"buffer", buffer},
          {"held", held},
          {"messages", json_of(prediction.messages)},
          {"nodes_per_message", static_cast<double>(nodes) / messages},
          {"published_nodes_per_message", is_theirs ? Json(1.2) : Json()},
          {"rounds", json_of(prediction.rounds)},
          {"seconds", json_of(prediction.seconds)}};
}

}  // namespace

Findings buffer_of_messages(const Asked& asked) {
  Findings found;
  for (const int ranks : rank_counts) {
    for (const std::string distribution : {"lower", "upper", "power2", "optimized"}) {
      const auto counts = spread(distribution, elements, ranks);
      for (const order::Count held : thresholds) found.rows.push_back(row_with(distribution, counts, held, asked.link));
    }
  }
  return found;
}

}  // namespace steadfold::command::studies::thesis
