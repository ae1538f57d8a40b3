#include "plan/model.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

namespace steadfold::plan {
namespace {

/// Returns the number of ranks whose rows a typical partial covers: the geometric mean of 1 and all ranks if the number
/// doubles from round to round, otherwise half of all ranks.
order::Rank typical_rank_count(const schedule::Context& context, Count rounds) {
  const bool doubles = rounds <= Count{2} * static_cast<Count>(order::ceil_log2(context.ranks())) + 2;
  const auto ranks = static_cast<double>(context.rank_count);
  return static_cast<order::Rank>(std::lround(doubles ? std::sqrt(ranks) : std::ceil(ranks / 2)));
}

/// Returns the bytes of a typical partial, half way through the reduction: of one rank if partials do not grow, of two
/// intervals if the order is cyclic.
Bytes typical_partial(const schedule::Context& context, const PartialSizes& sizes, Count rounds) {
  using order::Rank;
  const schedule::Algorithm& algorithm = *context.spec->algorithm;
  const Rank ranks = context.rank_count;
  if (algorithm.partials == schedule::Partials::of_one_rank) return sizes.of(*context.layout, {ranks / 2, 1});
  const Rank count = typical_rank_count(context, rounds);
  const bool is_cyclic = algorithm.keeps_rank_order == schedule::KeepsRankOrder::never;
  return sizes.of(*context.layout, {is_cyclic ? ranks - (count + 1) / 2 : ranks / 4, count});
}

/// The bytes that pass a rank's ports as partials and as values, in units of whole vectors.
struct Vectors {
  double partials = 0;
  double values = 0;
};

Vectors vectors_of(const schedule::Algorithm& algorithm, const schedule::Context& context, double rounds) {
  const double all = algorithm.vectors ? algorithm.vectors(context) : rounds / context.segments;
  if (context.is_scan()) return {.partials = all};
  if (context.scatters()) {
    if (algorithm.segments == schedule::Segments::one_per_rank) return {.partials = all};
    // In the first rounds whole vectors are sent, then the blocks of one vector along a binomial tree.
    return {.partials = rounds - order::ceil_log2(context.ranks()), .values = 1};
  }
  double share = context.rooted() && context.segments == 1 ? 1.0 : 0.5;
  if (!algorithm.uneven)
    share = static_cast<double>(algorithm.partial_messages(context)) / static_cast<double>(algorithm.messages(context));
  return {.partials = share * all, .values = (1 - share) * all};
}

/// Whether every rank does the same as rank 0, with rank numbers shifted by its number, with whole partials over
/// several ports in a round.
bool every_rank_does_the_same(const schedule::Algorithm& algorithm) {
  return algorithm.same_on_all_ranks == schedule::SameOnAllRanks::no;
}

double merges_of_rank_0(schedule::Context context) {
  context.rank = 0;
  double merges = 0;
  schedule::Steps steps = context.spec->algorithm->steps(context);
  while (const schedule::Step* const step = steps.next()) merges += step->kind == schedule::StepKind::merge ? 1 : 0;
  return merges;
}

/// Messages that a rank sends one after the other.
struct Outgoing {
  double count = 0;
  double bytes = 0;  // bytes of each message
};

/// The quantities that the formulas give for a schedule.
struct Modelled {
  schedule::Context context;  // the context of the schedule, including the number of segments
  double rounds = 0;
  double partial = 0;  // bytes of a whole partial of typical size
  double value = 0;
  std::vector<Outgoing> sent = {};
  double merged = 0;    // bytes of partials that are merged
  double finished = 0;  // bytes that a partial of all rows, or a rank's part of it, has beyond its result

  /// Returns the sum of `of_message(bytes)` over all messages.
  template <class OfMessage>
  double sum(const OfMessage& of_message) const {
    double sum = 0;
    for (const Outgoing& each : sent) sum += each.count * of_message(each.bytes);
    return sum;
  }
  double starts() const {
    return sum([](double) { return 1.0; });
  }
  /// Returns the time of all messages, without latencies.
  double seconds_of_sends(const transport::LogGP& link) const {
    return sum([&](double bytes) { return link.duration(bytes); });
  }
  /// Returns the time of all messages, without latencies and without the time for their bytes.
  double seconds_of_starts(const transport::LogGP& link) const {
    return sum([&](double bytes) { return link.start(bytes); });
  }
  double seconds_of_handling(const Rates& rates) const {
    return merged * rates.merge_per_byte + finished * rates.finish_per_byte;
  }
};

void send_the_same_on_every_rank(Modelled& found, const schedule::Algorithm& algorithm) {
  const auto ranks = static_cast<double>(found.context.rank_count);
  const auto messages = static_cast<double>(algorithm.messages(found.context));
  const auto partials = static_cast<double>(algorithm.partial_messages(found.context));
  if (messages > 0) found.sent = {{messages / ranks, found.partial * partials / messages}};
  found.merged = merges_of_rank_0(found.context) * found.partial;
}

/// Returns the bytes of a part of a partial or value. Each part has a head. The head's size is the remainder of the
/// bytes modulo whole rows, unless the remainder is a part of a row.
double part_of(double whole, double part, const PartialSizes& sizes) {
  const Bytes rest = static_cast<Bytes>(whole) % std::max(sizes.kind().value_bytes(), Bytes{1});
  const auto head = static_cast<double>(std::min(rest, most_head));
  return part * (whole - head) + head;
}

/// Adds the messages of a schedule that halves vectors. In each round a rank sends half as many bytes of its partial as
/// before (halves, quarters, ...), and the partial covers twice as many ranks. In an allreduce, messages of the same
/// sizes then carry the values back. Before these rounds and after them, the two ranks of a pair send whole vectors to
/// each other. Arriving partials are merged.
void send_halves(Modelled& found, Count halvings, const PartialSizes& sizes) {
  const schedule::Context& context = found.context;
  const bool come_back = !context.scatters();
  const auto partial_of = [&](order::Rank ranks) {
    // With rows in many intervals the sizes take long to compute, so one size is used for all partials.
    return context.layout->in_rank_order() ? static_cast<double>(sizes.of(*context.layout, {0, ranks})) : found.partial;
  };
  double part = 1;
  double in_halves = 0;
  for (Count i = 0; i < halvings; ++i) {
    part /= 2;
    const auto ranks = static_cast<order::Rank>(std::min(Count{1} << i, context.ranks()));
    found.sent.push_back({1, part_of(partial_of(ranks), part, sizes)});
    found.merged += found.sent.back().bytes;
    if (come_back) found.sent.push_back({1, part_of(found.value, part, sizes)});
    in_halves += come_back ? 2 : 1;
  }
  const double in_pairs = std::max(found.rounds - in_halves, 0.0);
  if (in_pairs == 0) return;
  found.sent.push_back({in_pairs / 2, partial_of(1)});
  found.sent.push_back({in_pairs / 2, part_of(found.value, come_back ? 1 : part, sizes)});
  found.merged += in_pairs / 2 * partial_of(1);
}

/// Adds one message of a whole vector per round.
void send_vectors(Modelled& found, const schedule::Algorithm& algorithm, const PartialSizes& sizes) {
  const Vectors vectors = vectors_of(algorithm, found.context, found.rounds);
  const double all = vectors.partials + vectors.values;
  if (all <= 0) return;
  const auto add = [&](double count, double whole) {
    if (count > 0) found.sent.push_back({found.rounds * count / all, part_of(whole, all / found.rounds, sizes)});
  };
  add(vectors.partials, found.partial);
  add(vectors.values, found.value);
  found.merged = vectors.partials * found.partial;
}

/// Returns the bytes by which partials of all rows exceed their result, for the columns that one rank finishes. If
/// every rank finishes the columns of its block, these are only a part of all columns. In schedules with groups the
/// first rank of each node finishes all columns.
double finished_by_a_rank(const schedule::Context& context, const arithmetic::PartialKind& kind) {
  const schedule::Algorithm& algorithm = *context.spec->algorithm;
  const order::IntervalSet all_rows({0, context.layout->element_count()});
  const double beyond = static_cast<double>(kind.full_size(all_rows)) - static_cast<double>(kind.value_bytes());
  const bool in_parts = algorithm.segments == schedule::Segments::one_per_rank && !algorithm.has_groups;
  return std::max(beyond, 0.0) / (in_parts ? static_cast<double>(context.rank_count) : 1.0);
}

std::optional<Modelled> modelled(schedule::Context context, const PartialSizes& sizes, Count columns,
                                 const transport::LogGP& link) {
  const schedule::Algorithm& algorithm = *context.spec->algorithm;
  if (!algorithm.messages || !algorithm.rounds) return std::nullopt;
  context.segments = context.scatters() ? static_cast<std::uint32_t>(context.rank_count)
                                        : segments_of(context, columns,
                                                      sizes.kind().value_bytes() / std::max(columns, Count{1}), link);
  schedule::Context whole = context;
  whole.segments = 1;
  Modelled found{.context = context,
                 .rounds = static_cast<double>(algorithm.rounds(context)),
                 .partial = static_cast<double>(typical_partial(context, sizes, algorithm.rounds(whole))),
                 .value = static_cast<double>(sizes.kind().value_bytes() + sizeof(Header))};
  const Count halvings = algorithm.halvings == nullptr ? 0 : algorithm.halvings(context);
  if (every_rank_does_the_same(algorithm)) {
    send_the_same_on_every_rank(found, algorithm);
  } else if (halvings > 0) {
    send_halves(found, halvings, sizes);
  } else {
    send_vectors(found, algorithm, sizes);
  }
  found.finished = finished_by_a_rank(context, sizes.kind());
  return found;
}

/// The messages that the ranks of a node, or one rank of a node, send or receive.
struct Passed {
  double vectors = 0;           // number of all vectors
  double vectors_outside = 0;   // number of vectors to or from other nodes
  double bytes_outside = 0;     // bytes of the vectors to or from other nodes
  double messages_outside = 0;  // number of messages that carry the vectors to or from other nodes

  /// Returns the time of the bytes to or from other nodes, as if all messages had the same length.
  double seconds_of_bytes_outside(const transport::LogGP& link) const {
    return messages_outside == 0 ? 0 : messages_outside * link.transfer(bytes_outside / messages_outside);
  }
};

/// The sizes of messages. An arriving partial is taken to cover the same number of ranks from rank 0 on. A partial that
/// is sent has the typical size.
class SizesOnTheWay {
 public:
  SizesOnTheWay(const Modelled& found, const PartialSizes& sizes) noexcept : found_(&found), sizes_(&sizes) {}

  double of(const schedule::Step& step) {
    if (step.target.kind != schedule::SlotKind::landing) return found_->value;
    const bool is_known = step.kind == schedule::StepKind::receive && !step.covers.is_part();
    const order::Layout& layout = *found_->context.layout;
    if (!is_known || !layout.in_rank_order()) return found_->partial;
    const order::Rank count = step.covers.ranks.count + step.covers.apart.count;
    const auto [known, is_new] = by_count_.try_emplace(count);
    if (is_new) known->second = static_cast<double>(sizes_->of(layout, {0, count}));
    return known->second;
  }

 private:
  const Modelled* found_;
  const PartialSizes* sizes_;
  std::map<order::Rank, double> by_count_;
};

/// Counts the messages that pass the link of a node, or of one rank of a node, rank by rank. `steps` counts the steps
/// of all links.
class NodeLink {
 public:
  NodeLink(const order::Nodes& nodes, order::Rank node, const Modelled& found, const PartialSizes& sizes,
           Count& steps) noexcept
      : nodes_(&nodes), node_(node), on_the_way_(found, sizes), steps_(&steps) {}

  /// Counts the messages of the context's rank. Returns false if there are too many steps.
  bool count(const schedule::Context& context) {
    constexpr Count most_steps = Count{1} << 16;
    const double vector = 1.0 / context.segments;
    Count arrivals = 0;
    schedule::Steps steps = context.spec->algorithm->steps(context);
    while (const schedule::Step* const step = steps.next()) {
      if (++*steps_ > most_steps) return false;
      if (step->peer < 0) continue;
      const bool is_sent = step->kind == schedule::StepKind::send;
      Passed& way = is_sent ? out_ : in_;
      way.vectors += vector;
      if (nodes_->node_of(step->peer) == node_) continue;
      arrivals += is_sent ? 0 : 1;
      way.vectors_outside += vector;
      way.bytes_outside += vector * on_the_way_.of(*step);
      way.messages_outside += step->more ? 0 : 1;
    }
    most_arrivals_ = std::max(most_arrivals_, arrivals);
    return true;
  }

  /// Returns the direction in which more vectors pass the link. If both directions have the same number, returns the
  /// inward direction, because the sizes of arriving partials are known.
  const Passed& busier_way() const noexcept { return out_.vectors_outside > in_.vectors_outside ? out_ : in_; }
  bool is_busier_than(const NodeLink& other) const noexcept {
    const auto busy = [](const NodeLink& link) {
      return std::pair(link.busier_way().vectors_outside, link.most_arrivals_);
    };
    return busy(*this) > busy(other);
  }
  /// Returns the largest number of messages that one rank receives from other nodes.
  double most_arrivals() const noexcept { return static_cast<double>(most_arrivals_); }

 private:
  const order::Nodes* nodes_;
  order::Rank node_;
  SizesOnTheWay on_the_way_;
  Passed out_;
  Passed in_;
  Count* steps_;
  Count most_arrivals_ = 0;
};

/// Returns the link of the root's node, or of the first of the largest nodes. If ranks have separate links, returns the
/// busiest link of a rank of this node. Returns `nullopt` if counting takes too long.
std::optional<NodeLink> busiest_link(const order::Nodes& nodes, const Modelled& found, const PartialSizes& sizes) {
  schedule::Context context = found.context;
  order::Rank node = nodes.node_of(context.root);
  for (order::Rank other = 0; !context.rooted() && other < nodes.count(); ++other)
    if (nodes.places(other).count > nodes.places(node).count) node = other;
  Count steps = 0;
  const auto counted = [&](order::RankRange places) {
    std::optional<NodeLink> link(std::in_place, nodes, node, found, sizes, steps);
    for (order::Rank place = places.first; link && place < places.first + places.count; ++place) {
      context.rank = nodes.rank_at(place);
      if (!link->count(context)) link.reset();
    }
    return link;
  };
  const order::RankRange places = nodes.places(node);
  if (nodes.share_links()) return counted(places);
  std::optional<NodeLink> busiest = counted({places.first, 1});
  for (order::Rank place = places.first + 1; busiest && place < places.first + places.count; ++place) {
    std::optional<NodeLink> other = counted({place, 1});
    if (!other || other->is_busier_than(*busiest)) busiest = std::move(other);
  }
  return busiest;
}

}  // namespace

Bytes PartialSizes::of(const order::Layout& layout, order::RankRange range) const {
  if (kind_->has_fixed_size()) return kind_->full_size(order::IntervalSet({0, 1}));
  for (const Known& known : known_)
    if (known.layout == &layout && known.range == range) return known.bytes;
  return known_.emplace_back(Known{&layout, range, kind_->full_size(layout.rows(range))}).bytes;
}

std::optional<double> modelled_seconds(schedule::Context context, const PartialSizes& sizes, Count columns,
                                       const Network& network) {
  if (context.rank_count == 1 && context.spec->algorithm->messages && context.spec->algorithm->rounds) return 0;
  const transport::LogGP& link = network.link;
  const auto found = modelled(context, sizes, columns, link);
  if (!found) return std::nullopt;
  return found->rounds * link.latency + found->seconds_of_sends(link) +
         found->seconds_of_handling(network.rates_of(sizes.kind()));
}

std::optional<double> modelled_seconds_on(const order::Nodes& nodes, const schedule::Context& context,
                                          const PartialSizes& sizes, Count columns, const Network& network) {
  const transport::LogGP& link = network.link;
  const transport::LogGP& inside = network.inside;
  const auto found = modelled(context, sizes, columns, link);
  const auto counted = found ? busiest_link(nodes, *found, sizes) : std::nullopt;
  if (!counted) return std::nullopt;
  const Passed& passed = counted->busier_way();
  // Share of the vectors that stay inside the node.
  const double stays = passed.vectors > 0 ? 1 - passed.vectors_outside / passed.vectors : 1;
  const double leave = passed.messages_outside / std::max(found->starts(), 1.0);
  const double rounds_outside = std::min(found->rounds, counted->most_arrivals());
  return rounds_outside * link.latency + (found->rounds - rounds_outside) * inside.latency +
         stays * found->seconds_of_sends(inside) + leave * found->seconds_of_starts(link) +
         passed.seconds_of_bytes_outside(link) + found->seconds_of_handling(network.rates_of(sizes.kind()));
}

}  // namespace steadfold::plan
