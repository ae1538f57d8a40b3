#include "collective/segmentation.hpp"

#include <algorithm>
#include <cmath>

namespace steadfold::collective {
namespace {

constexpr std::uint32_t most_segments = 1u << 20;

/// What a row's formula comes to over many segments, where it is a line.
struct Line {
  Count first;   // rounds of the first segment
  Count period;  // of every other
};

Line line_of(const schedule::Row& row, schedule::Context context) {
  constexpr std::uint32_t many = 1024;
  const auto rounds = [&](std::uint32_t segments) {
    context.segments = segments;
    return row.rounds(context);
  };
  const Count period = rounds(many + 1) - rounds(many);
  return {rounds(many) - (many - 1) * period, period};
}

/// A block for every rank, where there is a column for each, of one segment or of as many as have `block` columns at
/// most.
std::uint32_t of_blocks(order::Rank rank_count, Count columns, Count block) {
  const auto ranks = static_cast<Count>(rank_count);
  if (columns < ranks) return 1;
  const Count of_one = (columns - 1) / ranks + 1;
  const Count cuts = block == 0 ? 1 : std::min((of_one - 1) / block + 1, columns / ranks);
  return static_cast<std::uint32_t>(ranks * cuts);
}

}  // namespace

Pipeline best_pipeline(Count first, Count period, Bytes bytes, const transport::LogGP& link) {
  const double start = link.latency + link.gap;
  const double transfer = link.per_byte * static_cast<double>(bytes);
  const auto d = static_cast<double>(first);
  const auto s = static_cast<double>(period);
  const auto seconds_of = [&](double blocks) { return (d + s * (blocks - 1)) * (start + transfer / blocks); };
  if (first <= period) return {1, seconds_of(1)};
  const double best = std::max(1.0, std::sqrt((d - s) * transfer / (s * start)));
  return {best, std::isfinite(best) ? seconds_of(best) : s * transfer};
}

std::uint32_t segments_of(const schedule::Spec& spec, schedule::Context context, Count columns, Bytes column_bytes,
                          const transport::LogGP& link) {
  const schedule::Row& row = *spec.row;
  context.spec = &spec;
  const Count most = std::min<Count>(columns, most_segments);
  if (row.segments == schedule::Segments::one || context.rank_count == 1) return 1;
  const Count block = number_of(spec, "block", 0, 1, schedule::most_block);
  if (block > 0 && row.segments == schedule::Segments::pipelined)
    return static_cast<std::uint32_t>(std::clamp<Count>((columns - 1) / block + 1, 1, most));
  if (row.segments == schedule::Segments::one_a_rank) return of_blocks(context.rank_count, most, block);
  const Line line = line_of(row, context);
  const double best = best_pipeline(line.first, line.period, columns * column_bytes, link).blocks;
  return best < static_cast<double>(most) ? static_cast<std::uint32_t>(std::lround(best))
                                          : static_cast<std::uint32_t>(most);
}

}  // namespace steadfold::collective
