#include "agreement/segmentation.hpp"

#include <algorithm>
#include <cmath>

namespace steadfold::agreement {
namespace {

constexpr std::uint32_t most_segments = 1u << 20;

/// A row's formula for rounds if that is a line in the number of segments.
struct LinearRounds {
  Count first;   // rounds of the first segment
  Count period;  // of every other
};

LinearRounds line_of(const schedule::Row& row, schedule::Context context) {
  constexpr std::uint32_t many = 1024;
  const auto rounds = [&](std::uint32_t segments) {
    context.segments = segments;
    return row.rounds(context);
  };
  const Count period = rounds(many + 1) - rounds(many);
  return {rounds(many) - (many - 1) * period, period};
}

/// One unit, where there are columns for it, or as many as have at most `block` columns each.
std::uint32_t of_units(Count unit, Count columns, Count block) {
  if (columns < unit) return 1;
  const Count of_one = (columns - 1) / unit + 1;
  const Count cuts = block == 0 ? 1 : std::min((of_one - 1) / block + 1, columns / unit);
  return static_cast<std::uint32_t>(unit * cuts);
}

/// `block=` of a schedule or of a schedule that it is made of; 0: there is none.
Count block_of(const schedule::Spec& spec) {
  Count block = number_of(spec, "block", 0, 1, schedule::most_block);
  for (const schedule::Spec::Parameter& each : spec.parameters) {
    if (!each.nested.empty()) block = std::max(block, block_of(each.nested.front()));
  }
  return block;
}

}  // namespace

Pipeline best_pipeline(Count first, Count period, Bytes bytes, const transport::LogGP& link) {
  const double transfer = link.per_byte * static_cast<double>(bytes);
  const auto d = static_cast<double>(first);
  const auto s = static_cast<double>(period);
  const auto in_blocks = [&](double least_blocks, double start) -> Pipeline {
    const auto seconds_of = [&](double blocks) { return (d + s * (blocks - 1)) * (start + transfer / blocks); };
    if (first <= period) return {least_blocks, seconds_of(least_blocks)};
    const double best = std::max(least_blocks, std::sqrt((d - s) * transfer / (s * start)));
    return {best, std::isfinite(best) ? seconds_of(best) : s * transfer};
  };
  const Pipeline waiting = in_blocks(1, link.latency + link.start(bytes));
  if (bytes + most_head <= link.eager_limit) return waiting;
  const auto eager_bytes = static_cast<double>(std::max(link.eager_limit, most_head + 1) - most_head);
  const Pipeline eager = in_blocks(std::ceil(static_cast<double>(bytes) / eager_bytes), link.latency + link.gap);
  return eager.seconds < waiting.seconds ? eager : waiting;
}

Segmentation::Segmentation(std::span<const Count> blocks, Count most) : begins_{0}, blocks_{0} {
  for (const Count block : blocks) {
    const Count parts = block == 0 ? 0 : most == 0 ? 1 : (block - 1) / most + 1;
    const Count begin = begins_.back();
    for (Count part = 1; part <= parts; ++part) begins_.push_back(begin + block * part / parts);
    blocks_.push_back(static_cast<std::uint32_t>(begins_.size() - 1));
  }
  columns_ = begins_.back();
  segments_ = blocks_.back();
}

Segmentation segmentation_of(const schedule::Context& context, Count columns, Bytes column_bytes,
                             std::span<const Count> blocks, const transport::LogGP& link) {
  if (context.scatters()) return {blocks, block_of(*context.spec)};
  return {columns, segments_of(context, columns, column_bytes, link)};
}

std::uint32_t segments_of(const schedule::Context& context, Count columns, Bytes column_bytes,
                          const transport::LogGP& link) {
  const schedule::Row& row = *context.spec->row;
  const Count most = std::min<Count>(columns, most_segments);
  if (row.segments == schedule::Segments::one || context.rank_count == 1) return 1;
  const Count block = block_of(*context.spec);
  if (row.segments == schedule::Segments::one_per_rank) return of_units(row.unit_of(context), most, block);
  double wanted = 0;
  if (block > 0) {
    const Count blocks = (columns - 1) / block + 1;
    wanted = static_cast<double>(blocks);
  } else {
    const LinearRounds line = line_of(row, context);
    wanted = std::round(best_pipeline(line.first, line.period, columns * column_bytes, link).blocks);
  }
  const auto possible = static_cast<std::uint32_t>(std::min(wanted, static_cast<double>(most)));
  return row.segments_up_to(std::max(possible, 1u), context);
}

}  // namespace steadfold::agreement
