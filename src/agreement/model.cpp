#include "agreement/model.hpp"

#include <algorithm>

namespace steadfold::agreement {
namespace {

/// A typical partial, half way through: of half of the ranks; of one rank if partials do not grow; of two intervals if
/// the order is cyclic.
Bytes typical_partial(const schedule::Row& row, const schedule::Context& context, const PartialSizes& sizes) {
  using order::Rank;
  const Rank ranks = context.rank_count;
  const Rank half = (ranks + 1) / 2;
  const bool is_cyclic = row.keeps_rank_order == schedule::KeepsRankOrder::never;
  const bool never_grows = row.partials == schedule::Partials::of_one_rank;
  const order::RankRange range{never_grows ? ranks / 2
                               : is_cyclic ? (2 * ranks) / 3
                                           : ranks / 4,
                               never_grows ? 1 : half};
  return sizes.of(*context.layout, range);
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

/// What the formulas say of a schedule: rounds, and what passes a rank's ports in bytes.
struct Modelled {
  schedule::Context context;  // with segments
  double rounds = 0;
  Vectors vectors;
  double partial = 0;  // bytes of a typical one
  double value = 0;

  double bytes(const Vectors& of) const { return of.partials * partial + of.values * value; }
  /// On average.
  Bytes bytes_of_a_message() const { return static_cast<Bytes>(bytes(vectors) / std::max(rounds, 1.0)); }
};

std::optional<Modelled> modelled(schedule::Context context, const PartialSizes& sizes, Count columns,
                                 const transport::LogGP& link) {
  const schedule::Row& row = *context.spec->row;
  if (!row.messages || !row.rounds) return std::nullopt;
  context.segments = context.scatters() ? static_cast<std::uint32_t>(context.rank_count)
                                        : segments_of(context, columns,
                                                      sizes.kind().value_bytes() / std::max(columns, Count{1}), link);
  const auto rounds = static_cast<double>(row.rounds(context));
  return Modelled{.context = context,
                  .rounds = rounds,
                  .vectors = vectors_of(row, context, rounds),
                  .partial = static_cast<double>(typical_partial(row, context, sizes)),
                  .value = static_cast<double>(sizes.kind().value_bytes() + sizeof(Header))};
}

/// What one node's ranks send, or take in, in vectors.
struct Passed {
  Vectors outside;      // to or from other nodes
  double messages = 0;  // that carry these
  double all = 0;

  void add(const schedule::Step& step, bool is_outside, double vector) {
    all += vector;
    if (!is_outside) return;
    (step.target.kind == schedule::SlotKind::landing ? outside.partials : outside.values) += vector;
    messages += step.more ? 0 : 1;
  }
  double outside_sum() const { return outside.partials + outside.values; }
};

/// The way, in or out, by which more passes the link of the node; nothing if that takes too long to count.
std::optional<Passed> passed_link(const order::Nodes& nodes, schedule::Context context) {
  constexpr Count most_steps = Count{1} << 16;
  order::Rank node = nodes.node_of(context.root);
  for (order::Rank other = 0; !context.rooted() && other < nodes.count(); ++other)
    if (nodes.places(other).count > nodes.places(node).count) node = other;
  Passed out;
  Passed in;
  Count steps_taken = 0;
  const order::RankRange places = nodes.places(node);
  for (order::Rank place = places.first; place < places.first + places.count; ++place) {
    context.rank = nodes.rank_at(place);
    schedule::Steps steps = context.spec->row->steps(context);
    while (const schedule::Step* const step = steps.next()) {
      if (++steps_taken > most_steps) return std::nullopt;
      if (step->peer < 0) continue;
      Passed& way = step->kind == schedule::StepKind::send ? out : in;
      way.add(*step, nodes.node_of(step->peer) != node, 1.0 / context.segments);
    }
  }
  return out.outside_sum() > in.outside_sum() ? out : in;
}

}  // namespace

Bytes PartialSizes::of(const order::Layout& layout, order::RankRange range) const {
  if (kind_->has_fixed_size()) return kind_->full_size(order::IntervalSet({0, 1}));
  for (const Known& known : known_)
    if (known.layout == &layout && known.range == range) return known.bytes;
  return known_.emplace_back(Known{&layout, range, kind_->full_size(layout.rows(range))}).bytes;
}

std::optional<double> modelled_seconds(schedule::Context context, const PartialSizes& sizes, Count columns,
                                       const transport::LogGP& link) {
  if (context.rank_count == 1 && context.spec->row->messages && context.spec->row->rounds) return 0;
  const auto found = modelled(context, sizes, columns, link);
  if (!found) return std::nullopt;
  return found->rounds * (link.latency + link.start(found->bytes_of_a_message())) +
         found->vectors.partials * found->partial * (link.per_byte + assumed_merge_per_byte) +
         found->vectors.values * found->value * link.per_byte;
}

std::optional<double> modelled_seconds_on(const order::Nodes& nodes, const schedule::Context& context,
                                          const PartialSizes& sizes, Count columns, const transport::LogGP& link) {
  const auto found = modelled(context, sizes, columns, link);
  const auto passed = found ? passed_link(nodes, found->context) : std::nullopt;
  if (!passed) return std::nullopt;
  const double inside = passed->all > 0 ? 1 - passed->outside_sum() / passed->all : 1;  // the share that stays
  const double bytes = inside * found->bytes(found->vectors) + found->bytes(passed->outside);
  const double start = link.start(found->bytes_of_a_message());
  return found->rounds * (link.latency + inside * start) + passed->messages * start + bytes * link.per_byte +
         found->vectors.partials * found->partial * assumed_merge_per_byte;
}

}  // namespace steadfold::agreement
