#include "plan/segmentation.hpp"

#include <algorithm>
#include <cmath>

namespace steadfold::plan {
namespace {

constexpr std::uint32_t most_segments = 1u << 20;

/// An algorithm's formula for rounds, if it is linear in the number of segments.
struct LinearRounds {
  Count first;   // number of rounds for the first segment
  Count period;  // number of additional rounds for every further segment
};

LinearRounds line_of(const schedule::Algorithm& algorithm, schedule::Context context) {
  constexpr std::uint32_t many = 1024;
  const auto rounds = [&](std::uint32_t segments) {
    context.segments = segments;
    return algorithm.rounds(context);
  };
  const Count period = rounds(many + 1) - rounds(many);
  return {rounds(many) - (many - 1) * period, period};
}

/// Returns the number of segments: one unit of segments, if there are enough columns, or as many units as needed for at
/// most `block` columns per segment.
std::uint32_t of_units(Count unit, Count columns, Count block) {
  if (columns < unit) return 1;
  const Count of_one = (columns - 1) / unit + 1;
  const Count cuts = block == 0 ? 1 : std::min((of_one - 1) / block + 1, columns / unit);
  return static_cast<std::uint32_t>(unit * cuts);
}

/// Returns the parameter `block=` of a schedule or of a schedule nested in it; 0 if there is none.
Count block_of(const schedule::Spec& spec) {
  Count block = number_of(spec, "block", 0, 1, schedule::most_block);
  for (const schedule::Spec::Parameter& each : spec.parameters) {
    if (!each.nested.empty()) block = std::max(block, block_of(each.nested.front()));
  }
  return block;
}

Pipeline quicker(const Pipeline& one, const Pipeline& other) { return other.seconds < one.seconds ? other : one; }

/// A pipeline whose first block takes `first` rounds and each further block `period` rounds more.
struct Lemma {
  double first;
  double period;

  Pipeline in(double blocks, double start, double transfer) const {
    if (std::isinf(blocks)) return {blocks, period * transfer};
    return {blocks, (first + period * (blocks - 1)) * (start + transfer / blocks)};
  }
  /// Returns the best number of blocks from `least` to `most`, if there is one. Each round takes `start` seconds and
  /// the block's share of `transfer` seconds. `start` may be negative if `most` is finite.
  Pipeline best(double least, double most, double start, double transfer) const {
    if (std::isinf(least) || least > most) return {least, HUGE_VAL};
    if (start < 0) return quicker(in(least, start, transfer), in(most, start, transfer));
    const double best = std::sqrt((first - period) * transfer / (period * start));
    // `best` is NaN if nothing overlaps; the result is then `least`.
    return in(std::min(std::max(least, best), most), start, transfer);
  }
};

}  // namespace

Pipeline best_pipeline(Count first, Count period, Bytes bytes, const transport::LogGP& link) {
  const auto all = static_cast<double>(bytes);
  const Lemma lemma{.first = static_cast<double>(first), .period = static_cast<double>(period)};
  const double long_from = std::min(static_cast<double>(link.long_from), all);
  const auto best_from = [&](double least, double start) {
    const double least_short = std::max(least, std::ceil(all / long_from));
    const Pipeline in_short = lemma.best(least_short, HUGE_VAL, start, link.per_byte * all);
    if (long_from == all) return in_short;
    // Additional time for the first bytes of a block.
    const double extra_seconds = (link.per_byte - link.long_per_byte) * long_from;
    const double most_long = std::floor(all / long_from);
    return quicker(in_short, lemma.best(least, most_long, start + extra_seconds, link.long_per_byte * all));
  };
  const Pipeline waiting = best_from(1, link.latency + link.start(all));
  if (bytes + most_head <= link.eager_limit) return waiting;
  const auto eager_bytes = static_cast<double>(std::max(link.eager_limit, most_head + 1) - most_head);
  return quicker(waiting, best_from(std::ceil(all / eager_bytes), link.latency + link.gap));
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
  const schedule::Algorithm& algorithm = *context.spec->algorithm;
  const Count most = std::min<Count>(columns, most_segments);
  if (algorithm.segments == schedule::Segments::one || context.rank_count == 1) return 1;
  const Count block = block_of(*context.spec);
  if (algorithm.segments == schedule::Segments::one_per_rank) return of_units(algorithm.unit_of(context), most, block);
  double wanted = 0;
  if (block > 0) {
    const Count blocks = (columns - 1) / block + 1;
    wanted = static_cast<double>(blocks);
  } else {
    const LinearRounds line = line_of(algorithm, context);
    wanted = std::round(best_pipeline(line.first, line.period, columns * column_bytes, link).blocks);
  }
  const auto possible = static_cast<std::uint32_t>(std::min(wanted, static_cast<double>(most)));
  return algorithm.segments_up_to(std::max(possible, 1u), context);
}

}  // namespace steadfold::plan
