// The rows, and finding one. Rank order and source: stated by each row.
// Cost: the formulas, without a loop over ranks or steps, stand here or beside the steps.
#include "schedule/registry.hpp"

#include <algorithm>
#include <array>

#include "schedule/algorithms.hpp"
#include "schedule/open.hpp"
#include "schedule/scatter.hpp"

namespace steadfold::schedule {
namespace {

using order::floor_log2;

constexpr std::array<std::string_view, 1> owner_parameters = {"buffer"};
constexpr std::array<std::string_view, 1> owner_examples = {"buffer=4"};
constexpr Collective both = Collective::reduce | Collective::allreduce;
constexpr Collective reductions = both | Collective::reduce_scatter;
constexpr Collective scans = Collective::scan | Collective::exscan;

Count ranks(Context c) { return static_cast<Count>(c.rank_count); }

// For every segment one message per edge of a tree over the ranks, and one back if all ranks get the value. In
// reduce_scatter one message carries all segments.
Count tree_messages(Context c) { return (ranks(c) - 1) * (scatters(c) ? 2 : c.segments * (c.rooted() ? 1 : 2)); }

Count tree_partials(Context c) { return (ranks(c) - 1) * c.segments; }

// In a scan every rank above 0 sends its partial and gets a value; in an exclusive one the last rank sends nothing.
Count flat_messages(Context c) {
  if (!c.is_scan() || c.rank_count == 1) return tree_messages(c);
  return 2 * (ranks(c) - 1) - (c.collective == Collective::exscan ? 1 : 0);
}
Count flat_partials(Context c) {
  const bool is_without_last = c.collective == Collective::exscan && c.rank_count > 1;
  return tree_partials(c) - (is_without_last ? c.segments : 0);
}

// The root takes in all partials, then sends the values of the last segment; those before went out meanwhile. In a scan
// a value goes out as soon as the partial before it is there.
Count flat_rounds(Context c) {
  if (c.is_scan()) return ranks(c) - (c.collective == Collective::exscan || c.rank_count == 1 ? 1 : 0);
  if (scatters(c)) return flat_rounds(reduce_before_scatter(c)) + scatter_rounds(c);
  return (ranks(c) - 1) * (c.segments + (c.rooted() ? 0u : 1u));
}

Count linear_messages(Context c) { return c.is_scan() ? tree_partials(c) : tree_messages(c); }

// Reduce: a pipeline along the longer chain, or the root's port, which serves both once the shorter one has arrived.
// Allreduce: between the ends partials and values share a rank's ports, so each further segment takes two rounds, less
// one round in which they do not meet yet.
Count linear_rounds(Context c) {
  if (c.rank_count == 1) return 0;
  if (scatters(c)) return linear_rounds(reduce_before_scatter(c)) + scatter_rounds(c);
  const Count more = c.segments - 1;
  if (c.is_scan()) return ranks(c) - 1 + more;
  if (!c.rooted()) return 2 * (ranks(c) - 1) + (c.rank_count == 2 || more == 0 ? more : 2 * more - 1);
  const auto below = static_cast<Count>(c.root);
  const Count above = ranks(c) - 1 - below;
  const Count shorter = std::min(below, above);
  const Count longer = std::max(below, above);
  return shorter == 0 ? longer + more : std::max(longer + more, shorter + 1 + 2 * more);
}

// In a scan all pairs of partners exchange partials, except that in the last round the upper one is silent.
Count doubling_scan_messages(Context c) {
  Count messages = 0;
  for (int round = 0; round < order::ceil_log2(ranks(c)); ++round) {
    const Count half = Count{1} << round;
    const Count rest = ranks(c) % (2 * half);
    const Count pairs = ranks(c) / (2 * half) * half + (rest > half ? rest - half : 0);
    messages += pairs + (ranks(c) - 1) / (2 * half) * half;
  }
  return messages;
}

Count recursive_doubling_messages(Context c) {
  if (c.is_scan()) return doubling_scan_messages(c);
  const int rounds = floor_log2(ranks(c));
  const Count units = Count{1} << rounds;
  const Count pairs = ranks(c) - units;
  return (units * static_cast<Count>(rounds) + 2 * pairs) * c.segments;
}

Count recursive_doubling_partials(Context c) {
  if (c.is_scan()) return doubling_scan_messages(c) * c.segments;
  const int rounds = floor_log2(ranks(c));
  const Count units = Count{1} << rounds;
  return (units * static_cast<Count>(rounds) + ranks(c) - units) * c.segments;
}

// Unless p is a power of two, one more round for a pair's partial and one for each segment of its value.
Count recursive_doubling_rounds(Context c) {
  if (c.is_scan()) return static_cast<Count>(order::ceil_log2(ranks(c)));
  const auto rounds = static_cast<Count>(floor_log2(ranks(c)));
  const bool pairs = ranks(c) > Count{1} << rounds;
  return rounds * c.segments + (pairs ? 1 + c.segments : 0);
}

Count binomial_partials(Context c) {
  return c.is_scan() ? algorithm::binomial_messages(c) * c.segments : tree_partials(c);
}

// For one block per rank. With fewer columns than ranks there is one segment, the root's.
bool is_one(Context c) { return c.segments == 1; }
Count segments_of_a_block(Context c) { return std::max(c.segments / ranks(c), Count{1}); }

// All partials of a segment but its owner's go one hop, and so do all values; to the root only other ranks' values.
Count block_partials(Context c) { return (ranks(c) - 1) * c.segments; }
Count block_messages(Context c) {
  if (scatters(c)) return block_partials(c);
  return block_partials(c) + (c.rooted() ? c.segments - segments_of_a_block(c) : block_partials(c));
}
Count block_rounds(Context c) {
  return (ranks(c) - 1) * segments_of_a_block(c) * (scatters(c) || (c.rooted() && is_one(c)) ? 1 : 2);
}

constexpr std::array<std::string_view, 1> knomial_parameters = {"k"};
constexpr std::array<std::string_view, 3> knomial_examples = {"k=2", "k=3", "k=8"};
constexpr std::array<std::string_view, 2> reduce_parameters = {"reduce", "block"};
constexpr std::array<std::string_view, 3> reduce_examples = {"reduce=[linear]", "reduce=[flat]",
                                                             "reduce=[knomial:k=3]"};
constexpr std::array<std::string_view, 3> two_level_parameters = {"inner", "outer", "size"};
constexpr std::array<std::string_view, 3> two_level_examples = {"size=3", "inner=[flat]:outer=[ring]:size=4",
                                                                "inner=[halving_doubling]:outer=[circulant]:size=3"};
constexpr std::array<std::string_view, 1> block_parameter = {"block"};
constexpr std::array<std::string_view, 1> block_example = {"block=2"};

constexpr std::array<std::string_view, 1> open_parameter = {"open"};
constexpr std::array<std::string_view, 2> open_examples = {"open=2", "open=3"};
constexpr std::array<std::string_view, 2> transpose_parameters = {"block", "open"};
constexpr std::array<std::string_view, 3> transpose_examples = {"block=2", "open=2", "open=3"};

void check_block(const Spec& spec) { number_of(spec, "block", 1, 1, most_block); }
void check_open(const Spec& spec) { open_of({.spec = &spec}); }
void check_transpose(const Spec& spec) {
  check_block(spec);
  check_open(spec);
}

// As in a tree, except that the two roots send each other partials and no value.
Count dual_root_messages(Context c) { return c.rank_count == 1 ? 0 : (2 * ranks(c) - 2) * c.segments; }
Count dual_root_partials(Context c) { return c.rank_count == 1 ? 0 : ranks(c) * c.segments; }

constexpr std::array<Row, 18> all_rows = {{
    {.name = "flat",
     .sentence = "every rank sends to the root, which merges in rank order",
     .collectives = reductions | scans,
     .keeps_rank_order = KeepsRankOrder::always,
     .same_on_all_ranks = SameOnAllRanks::yes,
     .restrictions = "",
     .parameters = open_parameter,
     .source = "textbook",
     .steps = algorithm::flat,
     .messages = flat_messages,
     .rounds = flat_rounds,
     .partial_messages = flat_partials,
     .check_parameters = check_open,
     .examples = open_examples},
    {.name = "linear",
     .sentence = "partials run along a chain of ranks, from both ends towards the root",
     .collectives = reductions | scans,
     .keeps_rank_order = KeepsRankOrder::always,
     .same_on_all_ranks = SameOnAllRanks::yes,
     .restrictions = "",
     .parameters = {},
     .source = "S1",
     .steps = algorithm::linear,
     .messages = linear_messages,
     .rounds = linear_rounds,
     .partial_messages = tree_partials},
    {.name = "binomial",
     .sentence = "partials climb a binomial tree of ranks; for allreduce the values descend it",
     .collectives = reductions | scans,
     .keeps_rank_order = KeepsRankOrder::root_zero,
     .same_on_all_ranks = SameOnAllRanks::yes,
     .restrictions = "plain with an operator that does not commute: root 0 or allreduce",
     .parameters = {},
     .source = "S3",
     .steps = algorithm::binomial,
     .messages = algorithm::binomial_messages,
     .rounds = algorithm::binomial_rounds,
     .partial_messages = binomial_partials},
    {.name = "recursive_doubling",
     .sentence = "partners twice as far apart in each round exchange what they hold",
     .collectives = Collective::allreduce | scans,
     .keeps_rank_order = KeepsRankOrder::always,
     .same_on_all_ranks = SameOnAllRanks::yes,
     .restrictions = "",
     .parameters = {},
     .source = "S3",
     .steps = algorithm::recursive_doubling,
     .messages = recursive_doubling_messages,
     .rounds = recursive_doubling_rounds,
     .partial_messages = recursive_doubling_partials},
    {.name = "native",
     .sentence = "the MPI library adds the words of all partials in one allreduce",
     .collectives = reductions,
     .keeps_rank_order = KeepsRankOrder::never,
     .same_on_all_ranks = SameOnAllRanks::yes,
     .restrictions = "exact only",
     .parameters = {},
     .source = "ours",
     .steps = algorithm::native,
     .messages = nullptr,
     .rounds = nullptr,
     .adds_words = true},
    {.name = "owner",
     .sentence = "a node is reduced where its first element lives; ranks send others the right children they need",
     .collectives = Collective::reduce,
     .keeps_rank_order = KeepsRankOrder::always,
     .same_on_all_ranks = SameOnAllRanks::yes,
     .restrictions = "reduce only; elements in rank order",
     .parameters = owner_parameters,
     .source = "S0",
     .steps = algorithm::owner,
     .messages = algorithm::owner_messages,
     .rounds = nullptr,  // they follow the layout along the longest chain, which no formula finds
     .partial_messages = algorithm::owner_messages,
     .check_parameters = algorithm::check_owner,
     .examples = owner_examples,
     .layouts = Layouts::rank_order},
    {.name = "binary",
     .sentence = "partials climb a binary tree of ranks in order; for allreduce the values descend it",
     .collectives = reductions,
     .keeps_rank_order = KeepsRankOrder::always,
     .same_on_all_ranks = SameOnAllRanks::yes,
     .restrictions = "",
     .parameters = {},
     .source = "S1",
     .steps = algorithm::binary,
     .messages = tree_messages,
     .rounds = algorithm::binary_rounds,
     .partial_messages = tree_partials},
    {.name = "knomial",
     .sentence = "partials climb a k-nomial tree of ranks, k-1 children a level; for allreduce the values descend it",
     .collectives = reductions,
     .keeps_rank_order = KeepsRankOrder::root_zero,
     .same_on_all_ranks = SameOnAllRanks::yes,
     .restrictions = "plain with an operator that does not commute: root 0 or allreduce",
     .parameters = knomial_parameters,
     .source = "S4",
     .steps = algorithm::knomial,
     .messages = tree_messages,
     .rounds = algorithm::knomial_rounds,
     .partial_messages = tree_partials,
     .check_parameters = algorithm::check_knomial,
     .examples = knomial_examples},
    {.name = "reduce_broadcast",
     .sentence =
         "any schedule's reduce to rank 0 (reduce=[name], else binomial), then a binomial broadcast of the values",
     .collectives = Collective::allreduce,
     .keeps_rank_order = KeepsRankOrder::always,
     .same_on_all_ranks = SameOnAllRanks::yes,
     .restrictions = "allreduce only",
     .parameters = reduce_parameters,
     .source = "S1",
     .steps = algorithm::reduce_broadcast,
     .messages = algorithm::reduce_broadcast_messages,
     .rounds = algorithm::reduce_broadcast_rounds,
     .partial_messages = algorithm::reduce_broadcast_partials,
     .check_parameters = algorithm::check_reduce_broadcast,
     .examples = reduce_examples,
     .segments = Segments::pipelined,
     .unit = algorithm::reduce_broadcast_unit,
     .uneven = true},
    {.name = "pipelined_linear",
     .sentence = "the chain of linear in segments, one behind the other",
     .collectives = both | scans,
     .keeps_rank_order = KeepsRankOrder::always,
     .same_on_all_ranks = SameOnAllRanks::yes,
     .restrictions = "",
     .parameters = block_parameter,
     .source = "S1",
     .steps = algorithm::linear,
     .messages = linear_messages,
     .rounds = linear_rounds,
     .partial_messages = tree_partials,
     .check_parameters = check_block,
     .examples = block_example,
     .segments = Segments::pipelined},
    {.name = "pipelined_tree",
     .sentence = "the tree of binary in segments, one behind the other",
     .collectives = both,
     .keeps_rank_order = KeepsRankOrder::always,
     .same_on_all_ranks = SameOnAllRanks::yes,
     .restrictions = "",
     .parameters = block_parameter,
     .source = "S1",
     .steps = algorithm::binary,
     .messages = tree_messages,
     .rounds = algorithm::binary_rounds,
     .partial_messages = tree_partials,
     .check_parameters = check_block,
     .examples = block_example,
     .segments = Segments::pipelined},
    {.name = "doubly_pipelined_linear",
     .sentence = "two chains climb to two roots that exchange partials; values descend while segments climb",
     .collectives = Collective::allreduce,
     .keeps_rank_order = KeepsRankOrder::always,
     .same_on_all_ranks = SameOnAllRanks::yes,
     .restrictions = "allreduce only",
     .parameters = block_parameter,
     .source = "S1",
     .steps = algorithm::doubly_pipelined_linear,
     .messages = dual_root_messages,
     .rounds = algorithm::doubly_pipelined_linear_rounds,
     .partial_messages = dual_root_partials,
     .check_parameters = check_block,
     .examples = block_example,
     .segments = Segments::pipelined},
    {.name = "doubly_pipelined_tree",
     .sentence = "two post-order trees climb to two roots that exchange partials; values descend while segments climb",
     .collectives = Collective::allreduce,
     .keeps_rank_order = KeepsRankOrder::always,
     .same_on_all_ranks = SameOnAllRanks::yes,
     .restrictions = "allreduce only",
     .parameters = block_parameter,
     .source = "S1",
     .steps = algorithm::doubly_pipelined_tree,
     .messages = dual_root_messages,
     .rounds = algorithm::doubly_pipelined_tree_rounds,
     .partial_messages = dual_root_partials,
     .check_parameters = check_block,
     .examples = block_example,
     .segments = Segments::pipelined},
    {.name = "transpose",
     .sentence = "every rank folds its block of columns in rank order, after an exchange of all with all; then the "
                 "values go to all",
     .collectives = reductions,
     .keeps_rank_order = KeepsRankOrder::always,
     .same_on_all_ranks = SameOnAllRanks::yes,
     .restrictions = "",
     .parameters = transpose_parameters,
     .source = "ours",
     .steps = algorithm::transpose,
     .messages = block_messages,
     .rounds = block_rounds,
     .partial_messages = block_partials,
     .check_parameters = check_transpose,
     .examples = transpose_examples,
     .segments = Segments::one_per_rank,
     .partials = Partials::of_one_rank,
     .uneven = true},
    {.name = "ring",
     .sentence =
         "each rank's block of columns goes once round the ranks and is reduced on the way; then its values go round",
     .collectives = reductions,
     .keeps_rank_order = KeepsRankOrder::never,
     .same_on_all_ranks = SameOnAllRanks::yes,
     .restrictions = "no plain with an operator that does not commute",
     .parameters = block_parameter,
     .source = "S3",
     .steps = algorithm::ring,
     .messages = block_messages,
     .rounds = block_rounds,
     .partial_messages = block_partials,
     .check_parameters = check_block,
     .examples = block_example,
     .segments = Segments::one_per_rank,
     .uneven = true},
    {.name = "halving_doubling",
     .sentence =
         "partners 2^k apart, the nearest first, exchange halves of what they have left; then the values go back",
     .collectives = reductions,
     .keeps_rank_order = KeepsRankOrder::always,
     .same_on_all_ranks = SameOnAllRanks::yes,
     .restrictions = "",
     .parameters = {},
     .source = "S3",
     .steps = algorithm::halving_doubling,
     .messages = algorithm::halving_doubling_messages,
     .rounds = algorithm::halving_doubling_rounds,
     .partial_messages = block_partials,
     .segments = Segments::one_per_rank,
     .vectors = algorithm::halving_doubling_vectors,
     .uneven = true},
    {.name = "circulant",
     .sentence = "every rank sends to the one s_k ahead in round k, s_k being halves of the rank count; then the "
                 "values go back",
     .collectives = reductions,
     .keeps_rank_order = KeepsRankOrder::never,
     .same_on_all_ranks = SameOnAllRanks::yes,
     .restrictions = "no plain with an operator that does not commute",
     .parameters = {},
     .source = "arXiv 2410.14234",
     .steps = algorithm::circulant,
     .messages = algorithm::circulant_messages,
     .rounds = algorithm::circulant_rounds,
     .partial_messages = block_partials,
     .segments = Segments::one_per_rank,
     .vectors = algorithm::circulant_vectors,
     .uneven = true},
    {.name = "two_level",
     .sentence = "any reduce inside groups of size= ranks (inner=[name]), any schedule between their first ranks "
                 "(outer=[name])",
     .collectives = reductions,
     .keeps_rank_order = KeepsRankOrder::never,
     .same_on_all_ranks = SameOnAllRanks::yes,
     .restrictions = "no plain with an operator that does not commute; groups are ranks in a row",
     .parameters = two_level_parameters,
     .source = "S3",
     .steps = algorithm::two_level,
     .messages = algorithm::two_level_messages,
     .rounds = nullptr,  // groups of several sizes start the second level at several times
     .check_parameters = algorithm::check_two_level,
     .examples = two_level_examples,
     .segments = Segments::one_per_rank,
     .unit = algorithm::two_level_unit,
     .uneven = true},
}};

}  // namespace

std::string_view name_of(Collective collective) noexcept {
  switch (collective) {
    case Collective::reduce: return "reduce";
    case Collective::allreduce: return "allreduce";
    case Collective::reduce_scatter: return "reduce_scatter";
    case Collective::scan: return "scan";
    case Collective::exscan: return "exscan";
  }
  return "";
}

std::string names_of(Collective collectives) {
  std::string text;
  for (const Collective each : every_collective) {
    if (offers(collectives, each)) text.append(text.empty() ? "" : ", ").append(name_of(each));
  }
  return text;
}

Count bytes_of(const Row& row, Context context, SegmentBytes sizes) {
  const Count partials = row.partial_messages(context) / context.segments;
  const Count values = row.messages(context) / context.segments - partials;
  return partials * sizes.partials + values * sizes.values;
}

std::span<const Row> registry() noexcept { return all_rows; }

const Row* find(std::string_view name, std::span<const Row> rows) noexcept {
  const std::string_view own_name = name == "binomial_spanning_tree" ? "binomial" : name;
  const auto row = std::find_if(rows.begin(), rows.end(), [&](const Row& each) { return each.name == own_name; });
  return row == rows.end() ? nullptr : &*row;
}

std::vector<std::string> names_of(const Row& row) {
  std::vector<std::string> names = {std::string(row.name)};
  for (const std::string_view example : row.examples) names.push_back(names.front() + ":" + std::string(example));
  return names;
}

}  // namespace steadfold::schedule
