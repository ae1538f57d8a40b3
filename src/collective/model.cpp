#include "collective/model.hpp"

namespace steadfold::collective {
namespace {

/// A partial as they are half way: of half the ranks, or of one where none grows, or of two intervals where the order
/// is cyclic.
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

/// Which part of what passes the ports are partials.
double share_of_partials(const schedule::Row& row, const schedule::Context& context) {
  if (context.is_scan()) return 1.0;
  if (row.uneven && context.collective == schedule::Collective::reduce_scatter) return 1.0;
  if (row.uneven) return context.rooted() && context.segments == 1 ? 1.0 : 0.5;
  return static_cast<double>(row.partial_messages(context)) / static_cast<double>(row.messages(context));
}

/// How many vectors' bytes pass a rank's ports. Where whole vectors are reduced and blocks of them go back, the way
/// back is about as many as one.
double vectors_of(const schedule::Row& row, const schedule::Context& context, double rounds) {
  if (row.vectors) return row.vectors(context);
  const bool is_whole = row.segments != schedule::Segments::one_a_rank;
  if (context.collective == schedule::Collective::reduce_scatter && is_whole)
    return rounds - order::ceil_log2(static_cast<order::Count>(context.rank_count)) + 1;
  return rounds / context.segments;
}

}  // namespace

std::optional<double> modelled_seconds(const schedule::Spec& spec, schedule::Context context,
                                       const arithmetic::PartialKind& kind, Count columns,
                                       const transport::LogGP& link) {
  const schedule::Row& row = *spec.row;
  if (!row.messages || !row.rounds) return std::nullopt;
  context.spec = &spec;
  if (context.rank_count == 1) return 0;
  const bool scatters = context.collective == schedule::Collective::reduce_scatter;
  context.segments = scatters ? static_cast<std::uint32_t>(context.rank_count)
                              : segments_of(spec, context, columns, kind.value_bytes() / columns, link);
  const auto rounds = static_cast<double>(row.rounds(context));
  const double vectors = vectors_of(row, context, rounds);
  const double share = share_of_partials(row, context);
  const auto partial = static_cast<double>(typical_partial(row, context, kind));
  const auto value = static_cast<double>(kind.value_bytes() + sizeof(Header));
  return rounds * (link.latency + link.gap) + vectors * share * partial * (link.per_byte + assumed_merge_per_byte) +
         vectors * (1 - share) * value * link.per_byte;
}

}  // namespace steadfold::collective
