// Single and multi notify: partials go up any tree of ranks. For allreduce the values go down again. In single_notify a
// rank merges its children in the order of their ranks, each as soon as it and the children before it have arrived.
// (Lapillonne & Peltekov 2013 wait for all children first, which is never faster.) In multi_notify a rank merges its
// children in the order in which their messages arrive. A message carries all segments.
// Rank order: single_notify keeps it for root 0 and for allreduce; otherwise its order is cyclic, starting at the root.
// multi_notify does not keep it.
// Cost: at most d c (alpha + n beta + n gamma) for a tree of depth d with c children per node. Allreduce adds as many
// (alpha + n beta).
// Source: Lapillonne & Peltekov 2013, "Reduce implementations: SingleNotify & MultiNotify", between threads.
// lab/protocols/tree_reduce.hpp has the same algorithms as protocols over cache lines.
#include <array>

#include "schedule/algorithms/algorithms.hpp"
#include "schedule/algorithms/open.hpp"
#include "schedule/algorithms/rank_tree.hpp"
#include "schedule/algorithms/scatter.hpp"
#include "schedule/make_step.hpp"

namespace steadfold::schedule::algorithms {
namespace {

enum class MergeOrder : std::uint8_t { of_ranks, of_arrival };

// A rank's position in the tree. Converts the tree's positions, which count from the root, to ranks.
class NotifyRank {
 public:
  explicit NotifyRank(const Context& c)
      : tree_(c.spec),
        rank_(c.rank),
        rank_count_(c.rank_count),
        root_(c.rooted() ? c.root : 0),
        position_(tree_, c.rank_count, (c.rank - root_ + c.rank_count) % c.rank_count) {}

  bool is_root() const { return position_.parent < 0; }
  Rank parent() const { return (position_.parent + root_) % rank_count_; }
  Rank children() const { return tree_.children(position_.subtree); }
  RankRange child(Rank i) const {
    const Subtree child = tree_.child(position_.subtree, i);
    return {(child.top + root_) % rank_count_, child.ranks};
  }
  // Returns the ranks of this rank's subtree up to child i, including child i's subtree.
  RankRange merged(Rank i) const {
    const Subtree child = tree_.child(position_.subtree, i);
    return {rank_, child.top + child.ranks - position_.subtree.top};
  }
  // Returns the parent's landing slot for this rank's message.
  Slot landing_at_parent() const { return landing(position_.number % most_open); }

 private:
  RankTree tree_;
  Rank rank_;
  Rank rank_count_;
  Rank root_;
  TreePosition position_;
};

// Makes the steps on the way up. Receives are posted for at most `most_open` children at a time.
Steps climb(Context c, MergeOrder order) {
  const bool any_order = order == MergeOrder::of_arrival;
  const NotifyRank node(c);
  const Rank children = node.children();
  for (Rank first = 0; first == 0 || first < children; first += most_open) {
    const Rank end = std::min(first + most_open, children);
    for (Rank i = first; i < end; ++i) {
      const RankRange child = node.child(i);
      co_yield make::in_any_order(make::receive(child.first, landing(i % most_open), child), any_order);
    }
    if (first == 0) co_yield make::lift(partial(), c.rank);
    for (Rank i = first; i < end; ++i) {
      const Step merge = make::merge(partial(), partial(), landing(i % most_open), node.merged(i));
      co_yield make::in_any_order(merge, any_order);
    }
  }
  if (node.is_root())
    co_yield make::finish(value(), partial());
  else
    co_yield make::send(node.parent(), partial(), node.landing_at_parent());
}

// Makes the steps on the way down. The last child's subtree is the largest, so its value leaves first.
Steps descend(Context c) {
  const NotifyRank node(c);
  const Slot from = node.is_root() ? value() : landing_value();
  if (!node.is_root()) co_yield make::receive(node.parent(), landing_value());
  for (Rank i = node.children(); i-- > 0;) co_yield make::send(node.child(i).first, from, landing_value());
  if (!node.is_root()) co_yield make::copy(value(), landing_value());
}

template <MergeOrder order>
Steps of_one_segment(Context c) {
  for (Steps steps = climb(c, order); const Step* step = steps.next();) co_yield *step;
  if (c.rooted()) co_return;
  for (Steps steps = descend(c); const Step* step = steps.next();) co_yield *step;
}

template <MergeOrder order>
Steps notify(Context c) {
  return c.scatters() ? reduce_then_scatter(c, of_one_segment<order>)
                      : for_all_segments(of_one_segment<order>(c), c.segments);
}

// Returns the number of messages: one per edge and direction, for any number of segments.
Count notify_messages(Context c) { return (c.ranks() - 1) * (c.rooted() ? 1 : 2); }
Count notify_partials(Context c) { return (c.ranks() - 1) * c.segments; }

Count notify_rounds(Context c) {
  const RankTree tree(c.spec);
  const Count up = tree.rounds_up(c.ranks());
  if (c.scatters()) return up + scatter_rounds(c);
  return c.rooted() ? up : up + tree.rounds_down(c.ranks());
}

std::optional<std::string> notify_refusal(const Context& c) {
  const Rank listed = RankTree(c.spec).listed_ranks();
  if (listed == 0 || listed == c.rank_count) return std::nullopt;
  return "schedule '" + c.spec->name + "' cannot serve " + std::to_string(c.rank_count) +
         " ranks (its list of parents is a tree of " + std::to_string(listed) +
         " ranks), list the parents of all ranks but the first";
}

void check_tree(const Spec& spec) { RankTree{&spec}; }

constexpr std::array<std::string_view, 3> tree_parameters = {"tree", "k", "parents"};
constexpr std::array<std::string_view, 2> single_examples = {"tree=binomial", "tree=kary:k=3"};
constexpr std::array<std::string_view, 3> multi_examples = {"tree=binomial", "tree=kary:k=3", "tree=flat"};

}  // namespace

constexpr Algorithm single_notify_algorithm = {
    .name = "single_notify",
    .sentence =
        "partial results go up a tree of ranks (tree=binary, binomial, chain, flat, or kary with k=; or the list "
        "parents=) and are merged in rank order; for allreduce the result goes down again",
    .collectives = reductions,
    .keeps_rank_order = KeepsRankOrder::root_zero,
    .same_on_all_ranks = SameOnAllRanks::yes,
    .restrictions = "method plain with a non-commutative operator: only root 0 or allreduce",
    .parameters = tree_parameters,
    .source = "S2",
    .steps = notify<MergeOrder::of_ranks>,
    .messages = notify_messages,
    .rounds = notify_rounds,
    .partial_messages = notify_partials,
    .check_parameters = check_tree,
    .refusal_of_ranks = notify_refusal,
    .examples = single_examples,
    .uneven = true,
};

constexpr Algorithm multi_notify_algorithm = {
    .name = "multi_notify",
    .sentence = "as single_notify, but partial results are merged in the order in which they arrive",
    .collectives = reductions,
    .keeps_rank_order = KeepsRankOrder::never,
    .same_on_all_ranks = SameOnAllRanks::yes,
    .restrictions = "no method plain if the order of combining changes the bits",
    .parameters = tree_parameters,
    .source = "S2",
    .steps = notify<MergeOrder::of_arrival>,
    .messages = notify_messages,
    .rounds = notify_rounds,
    .partial_messages = notify_partials,
    .check_parameters = check_tree,
    .refusal_of_ranks = notify_refusal,
    .examples = multi_examples,
    .uneven = true,
    .merges_on_arrival = true,
};

}  // namespace steadfold::schedule::algorithms
