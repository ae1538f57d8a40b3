#include "agreement/model.hpp"

#include <algorithm>

namespace steadfold::agreement {
namespace {

/// A typical partial, half way through: of half of the ranks; of one rank if partials do not grow; of two intervals if
/// the order is cyclic.
Bytes typical_partial(const schedule::Row& row, const schedule::Context& context, const arithmetic::PartialKind& kind) {
  using order::Rank;
  const Rank ranks = context.rank_count;
  const Rank half = (ranks + 1) / 2;
  const bool is_cyclic = row.keeps_rank_order == schedule::KeepsRankOrder::never;
  const bool never_grows = row.partials == schedule::Partials::of_one_rank;
  const order::RankRange range{never_grows ? ranks / 2
                               : is_cyclic ? (2 * ranks) / 3
                                           : ranks / 4,
                               never_grows ? 1 : half};
  return kind.full_size(context.layout->rows(range));
}

/// How many vectors pass a rank's ports as partials, and how many as values, in bytes of whole vectors.
struct Vectors {
  double partials = 0;
  double values = 0;
};

Vectors vectors_of(const schedule::Row& row, const schedule::Context& context, double rounds) {
  const double all = row.vectors ? row.vectors(context) : rounds / context.segments;
  if (context.is_scan()) return {.partials = all};
  if (context.scatters()) {
    if (row.segments == schedule::Segments::one_per_rank) return {.partials = all};
    // Whole vectors, then blocks of one along a binomial tree.
    return {.partials = rounds - order::ceil_log2(context.ranks()), .values = 1};
  }
  double share = context.rooted() && context.segments == 1 ? 1.0 : 0.5;
  if (!row.uneven)
    share = static_cast<double>(row.partial_messages(context)) / static_cast<double>(row.messages(context));
  return {.partials = share * all, .values = (1 - share) * all};
}

}  // namespace

std::optional<double> modelled_seconds(schedule::Context context, const arithmetic::PartialKind& kind, Count columns,
                                       const transport::LogGP& link) {
  const schedule::Row& row = *context.spec->row;
  if (!row.messages || !row.rounds) return std::nullopt;
  if (context.rank_count == 1) return 0;
  context.segments = context.scatters()
                         ? static_cast<std::uint32_t>(context.rank_count)
                         : segments_of(context, columns, kind.value_bytes() / std::max(columns, Count{1}), link);
  const auto rounds = static_cast<double>(row.rounds(context));
  const Vectors vectors = vectors_of(row, context, rounds);
  const auto partial = static_cast<double>(typical_partial(row, context, kind));
  const auto value = static_cast<double>(kind.value_bytes() + sizeof(Header));
  return rounds * (link.latency + link.gap) + vectors.partials * partial * (link.per_byte + assumed_merge_per_byte) +
         vectors.values * value * link.per_byte;
}

}  // namespace steadfold::agreement
