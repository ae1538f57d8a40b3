// Owner: every node of the reduction tree is reduced on the rank that holds its first element. Each rank sends the
// right children of nodes that other ranks reduce, in ascending order.
// Rank order: kept for any root.
// Cost: one message of one node per outbound subtree root, at most (p-1)(log2((N-1)/p)+1) with distribution `lower`. A
// rank has O(log N) outbound roots. With a buffer of k nodes, up to k roots for the same rank share a message, as in
// section 3.1.1 of Stelz 2022. A message leaves when it is full, when the next root goes to another rank, or before a
// root over more than `held` elements is begun (64, as in Stelz 2022). If the root does not hold element 0, there is
// one more message. An allreduce adds a binomial broadcast of the values from rank 0: p - 1 messages.
// Source: Stelz 2022, algorithm 1 and section 3.1.1.
//
// The outbound roots of a rank are its first index x, then the index behind the subtree of x, and so on. Their subtrees
// partition the rank's rows; only the last subtree may reach beyond them. In this case the subtrees behind the rank's
// rows are right children of nodes that the rank reduces. Their levels increase, so the level of a message's first root
// identifies its landing slot.
//
// Ascending order is the order of the critical path, which Stelz 2022, chapter 5, leaves to future work. The path from
// x to the result passes the node whose right child is the next root (x with its lowest run of ones cleared). So the
// path of every root is at least as long as the path of the next root.
#include <algorithm>
#include <vector>

#include "order/pe_intersecting.hpp"
#include "schedule/algorithms/algorithms.hpp"
#include "schedule/algorithms/broadcast.hpp"
#include "schedule/make_step.hpp"

namespace steadfold::schedule::algorithms {
namespace {

using order::Interval;

constexpr Count most_buffered = 64;          // largest buffer; no rank has more outbound roots
constexpr Count usual_held = 64;             // the default of `held`
constexpr Count most_held = Count{1} << 62;  // largest value of `held`; larger than any root

Count buffer_of(const Spec& spec) { return number_of(spec, "buffer", 1, 1, most_buffered); }
Count held_of(const Spec& spec) { return number_of(spec, "held", usual_held, 1, most_held); }

// Says which rank reduces which node, and which roots share a message. Sender and receiver compute the same answers.
class Owners {
 public:
  explicit Owners(const Context& c)
      : layout_(c.layout),
        root_(c.root),
        buffer_(c.spec ? buffer_of(*c.spec) : 1),
        held_(c.spec ? held_of(*c.spec) : usual_held),
        row_count_(layout_ ? layout_->element_count() : c.ranks()) {}

  Count row_count() const { return row_count_; }
  Count buffer() const { return buffer_; }
  Interval rows(Rank rank) const { return {start(rank), start(rank + 1)}; }
  Rank owner(Index x) const { return layout_ ? layout_->owner(x) : static_cast<Rank>(x); }

  // Returns the rank to which the largest node at x is sent. The node over all elements goes to the root.
  Rank target(Index x) const { return x == 0 ? root_ : owner(order::parent(x)); }

  // Returns the rows of the message whose first outbound root is x.
  Interval message(Index x) const {
    const Index end_of_rank = rows(owner(x)).end;
    Index end = end_of_subtree(x);
    for (Count roots = 1; roots < buffer_ && end < end_of_rank; ++roots) {
      const Index next = end_of_subtree(end);
      if (target(end) != target(x) || next - end > held_) break;
      end = next;
    }
    return {x, end};
  }

 private:
  Index start(Rank rank) const { return layout_ ? layout_->start(rank) : static_cast<Index>(rank); }
  // Returns the index where the next root begins. Does not overflow, even at the largest index.
  Index end_of_subtree(Index x) const {
    return x == 0 ? row_count_ : std::min(order::largest_subtree_child(x), row_count_ - 1) + 1;
  }

  const order::Layout* layout_;
  Rank root_;
  Count buffer_;
  Count held_;
  Count row_count_;
};

Slot landing_of(Interval message, std::uint32_t segment) {
  return landing(message.begin == 0 ? 0 : order::max_level(message.begin) + 1, segment);
}

// Returns the rows of a rank's last message. Only this message includes nodes that other ranks send.
Interval last_message(const Owners& owners, Interval own) {
  Interval message = owners.message(own.begin);
  while (message.end < own.end) message = owners.message(message.end);
  return message;
}

void check_owner(const Spec& spec) {
  buffer_of(spec);
  held_of(spec);
}

Steps reduce_to_root(Context c) {
  const Owners owners(c);
  const Interval own = owners.rows(c.rank);
  const Interval all{0, owners.row_count()};
  const bool is_root = c.rank == c.root;
  // Whether the root gets all elements from the owner of element 0.
  const bool takes_all = is_root && !all.empty() && owners.owner(0) != c.rank;
  const Interval last = own.empty() ? Interval{} : last_message(owners, own);

  // Receives from the ranks above are posted before this rank reads its rows.
  for (Interval inbound{0, own.end}; inbound.end < last.end;) {
    inbound = owners.message(inbound.end);
    for (std::uint32_t s = 0; s < c.segments; ++s)
      co_yield make::receive(owners.owner(inbound.begin), landing_of(inbound, s), inbound);
  }
  for (std::uint32_t s = 0; s < c.segments && takes_all; ++s)
    co_yield make::receive(owners.owner(0), landing_of(all, s), all);

  // The number of slots, which are used in turn: this rank computes the next roots while the receiver is still busy
  // with its rows.
  constexpr int slots = 16;  // limits the memory for wide rows
  int number = 0;
  for (Interval sent{0, own.begin}; !own.empty() && sent.end < own.end; ++number) {
    sent = owners.message(sent.end);
    const Rank target = owners.target(sent.begin);
    for (std::uint32_t s = 0; s < c.segments; ++s) {
      const Slot sum = partial(number % slots, s);
      Index end = std::min(sent.end, own.end);
      co_yield make::lift(sum, Interval{sent.begin, end});
      while (end < sent.end) {
        const Interval inbound = owners.message(end);
        end = inbound.end;
        co_yield make::merge(sum, sum, landing_of(inbound, s), Interval{sent.begin, end});
      }
      if (target == c.rank) co_yield make::finish(value(0, s), sum);
      if (target != c.rank) co_yield make::send(target, sum, landing_of(sent, s));
    }
  }

  if (!takes_all && !(is_root && own.empty())) co_return;
  for (std::uint32_t s = 0; s < c.segments; ++s) {
    Slot result = landing_of(all, s);
    if (own.empty()) {  // a root without rows takes part with an empty partial, which carries its status
      result = partial(0, s);
      co_yield make::lift(result, c.rank);
      if (takes_all) co_yield make::merge(result, result, landing_of(all, s), all);
    }
    co_yield make::finish(value(0, s), result);
  }
}

Steps owner(Context c) {
  if (c.rooted()) return reduce_to_root(c);
  c.root = 0;
  return reduce_then_broadcast(reduce_to_root(c), c);
}

// Returns the number of messages to the root. Without a buffer it is the number of PE-intersecting nodes of Stelz 2022.
// Otherwise the messages are counted one by one.
Count owner_partials(Context c) {
  if (!c.rooted()) c.root = 0;
  const Owners owners(c);
  if (owners.row_count() == 0) return 0;
  Count messages = owners.owner(0) == c.root ? 0 : 1;
  std::vector<Index> starts;
  for (Rank rank = 0; rank < c.rank_count; ++rank) {
    const Interval own = owners.rows(rank);
    starts.push_back(own.begin);
    if (owners.buffer() == 1 || own.begin == 0) continue;
    for (Index sent = own.begin; sent < own.end; sent = owners.message(sent).end) ++messages;
  }
  if (owners.buffer() == 1) messages += order::pe_intersecting_nodes(starts, owners.row_count());
  return messages * c.segments;
}

Count owner_messages(Context c) {
  const Count of_broadcast = c.rooted() ? 0 : (c.ranks() - 1) * c.segments;
  return owner_partials(c) + of_broadcast;
}

constexpr std::array<std::string_view, 2> owner_parameters = {"buffer", "held"};
constexpr std::array<std::string_view, 1> owner_examples = {"buffer=4"};

}  // namespace

constexpr Algorithm owner_algorithm = {
    .name = "owner",
    .sentence =
        "each node of the summation tree is reduced on the rank that holds its first element; other ranks send that "
        "rank the right children that it lacks; an allreduce then broadcasts the result from rank 0",
    .collectives = Collective::reduce | Collective::allreduce,
    .default_collective = Collective::reduce,
    .keeps_rank_order = KeepsRankOrder::always,
    .same_on_all_ranks = SameOnAllRanks::yes,
    .restrictions = "reduce and allreduce; only layouts in rank order",
    .parameters = owner_parameters,
    .source = "S0",
    .steps = owner,
    .messages = owner_messages,
    .rounds = nullptr,  // the longest chain depends on the layout; there is no formula
    .partial_messages = owner_partials,
    .check_parameters = check_owner,
    .examples = owner_examples,
    .layouts = Layouts::rank_order,
};

}  // namespace steadfold::schedule::algorithms
