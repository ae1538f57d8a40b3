// The cases of a sweep of proofs: algorithms, parameters, collectives, rank counts, roots, segments and layouts.
// Cost: the cost of the proofs.
#include <algorithm>
#include <array>
#include <random>

#include "order/distribution.hpp"
#include "schedule/algorithms/open.hpp"
#include "schedule/checker/checker.hpp"

namespace steadfold::schedule {
namespace {

constexpr bool is_large(Rank rank_count) { return rank_count > 32; }
// Whether the job is so large that fewer cases are tried. From 66 ranks on, landing slots are used several times.
constexpr bool is_huge(Rank rank_count) { return rank_count > most_open + 3; }

// Returns the roots to check: all roots of a small job. For a larger job: roots near both ends, in the middle, near the
// first root that uses a landing slot again, and an arbitrary root. If there are p^2 messages: only the arbitrary root
// and the first.
std::vector<Rank> roots_of(Rank rank_count, std::uint32_t segments) {
  std::vector<Rank> roots;
  if (is_large(rank_count) && segments >= static_cast<std::uint32_t>(rank_count)) return {0, rank_count * 7 / 11};
  if (!is_large(rank_count)) {
    for (Rank root = 0; root < rank_count; ++root) roots.push_back(root);
    return roots;
  }
  roots = {0, 1, rank_count / 2 - 1, rank_count / 2, rank_count * 7 / 11, rank_count - 2, rank_count - 1};
  for (const Rank root : {most_open - 1, most_open, most_open + 1})
    if (root < rank_count - 2) roots.push_back(root);
  return roots;
}

// Returns the layouts to check: null (one row per rank) if the algorithm's steps do not follow the layout. For a larger
// job: one distribution, and a layout in which every other rank has no rows.
std::vector<std::optional<order::Layout>> layouts_of(const Algorithm& algorithm, Rank rank_count) {
  using order::Distribution;
  constexpr std::array rules = {Distribution::lower, Distribution::upper, Distribution::power2,
                                Distribution::optimized};
  if (algorithm.layouts == Layouts::any) return {std::nullopt};
  std::vector<std::optional<order::Layout>> layouts;
  const auto add = [&](const std::vector<Count>& counts) { layouts.emplace_back(order::Layout::contiguous(counts)); };
  const auto ranks = static_cast<Count>(rank_count);
  std::vector<Count> gaps(ranks);
  for (std::size_t rank = 1; rank < gaps.size(); rank += 2) gaps[rank] = 5 * rank + rank % 3;
  add(gaps);
  if (is_large(rank_count)) {
    add(order::counts(rules[ranks % rules.size()], 37 * ranks + 5, rank_count));
    return layouts;
  }
  add(std::vector<Count>(ranks));
  for (const Distribution rule : rules) {
    for (const Count rows : {ranks / 2, 16 * ranks + 1, 37 * ranks + 5}) add(order::counts(rule, rows, rank_count));
  }
  return layouts;
}

// Returns the segment counts to check: one, two, three, and more than a pipeline has receives posted for. If segments
// come in units: one, the unit, and twice the unit. A huge job leaves out the last count.
std::vector<std::uint32_t> segments_of(const Algorithm& algorithm, const Context& context) {
  const auto unit = static_cast<std::uint32_t>(algorithm.unit_of(context));
  const bool is_whole = algorithm.segments != Segments::one_per_rank;
  std::vector<std::uint32_t> all = is_whole ? std::vector{1u, 2u, 3u, 7u} : std::vector{1u, unit, 2 * unit};
  if (is_huge(context.rank_count)) all.pop_back();
  return all;
}

// The cases of one part of a sweep, and their results.
struct Cases {
  const Algorithm& algorithm;
  Prover& prover;
  SweepResult sweep;

  void check(const Context& context) {
    if (std::optional<std::string> failure = prover.check(algorithm, context)) {
      sweep.failures.push_back(*std::move(failure));
    } else {
      ++sweep.passed;
    }
  }
};

// Returns lists of the first segment of each rank's block, and the number of segments: blocks of one segment, of two,
// of none to two, and all segments for the last rank.
std::vector<std::vector<std::uint32_t>> blocks_of(Rank rank_count) {
  std::vector<std::vector<std::uint32_t>> all;
  const auto add = [&](const auto& segments_of_rank) {
    all.push_back({0});
    for (Rank rank = 0; rank < rank_count; ++rank)
      all.back().push_back(all.back().back() + static_cast<std::uint32_t>(segments_of_rank(rank)));
  };
  add([](Rank) { return 1; });
  add([&](Rank rank) { return (5 * rank + rank_count) % 3; });
  if (all.back().back() == 0) all.pop_back();
  if (is_large(rank_count)) return all;
  add([](Rank) { return 2; });
  add([&](Rank rank) { return rank + 1 == rank_count ? 2 : 0; });
  return all;
}

void check_blocks(Cases& cases, Context context) {
  context.collective = Collective::reduce_scatter;
  for (const std::vector<std::uint32_t>& blocks : blocks_of(context.rank_count)) {
    context.blocks = blocks;
    context.segments = blocks.back();
    cases.check(context);
  }
}

void check_collectives(Cases& cases, Context context) {
  for (const Collective each : {Collective::allreduce, Collective::scan, Collective::exscan}) {
    context.collective = each;
    if (offers(cases.algorithm.collectives, each)) cases.check(context);
  }
  if (!offers(cases.algorithm.collectives, Collective::reduce)) return;
  context.collective = Collective::reduce;
  for (const Rank root : roots_of(context.rank_count, context.segments)) {
    context.root = root;
    cases.check(context);
  }
}

bool has(const std::string& name, std::string_view parameter) { return name.find(parameter) != std::string::npos; }

// Returns the names of schedules to check. The names leave out `block=`, which changes only the number of segments, not
// the steps.
std::vector<std::string> names_to_check(const Algorithm& algorithm) {
  std::vector<std::string> names = names_of(algorithm);
  std::erase_if(names, [](const std::string& name) { return has(name, ":block="); });
  return names;
}

// Returns the nodes to check: null (consecutive ranks). If the schedule takes its groups from nodes, also ranks
// distributed to nodes round-robin and at random, nodes of growing sizes, one node, and one node per rank. For a larger
// job: round-robin and at random.
std::vector<std::optional<order::Nodes>> nodes_of(const Algorithm& algorithm, const Spec& spec, Rank rank_count) {
  std::vector<std::optional<order::Nodes>> all = {std::nullopt};
  if (!algorithm.has_groups || spec.parameter("size") != nullptr) return all;
  const auto add = [&](const auto& label) {
    std::vector<Rank> labels;
    labels.reserve(static_cast<std::size_t>(rank_count));
    for (Rank rank = 0; rank < rank_count; ++rank) labels.push_back(label(rank));
    all.emplace_back(labels);
  };
  std::minstd_rand random(static_cast<std::uint32_t>(rank_count));
  add([&](Rank rank) { return rank % (rank_count / 4 + 1); });
  const auto levels = static_cast<Count>(1 + order::ceil_log2(static_cast<Count>(rank_count)));
  add([&](Rank) { return static_cast<Rank>(random() % levels); });
  if (is_large(rank_count)) return all;
  add([&](Rank) { return static_cast<Rank>(random() % static_cast<Count>(rank_count)); });
  add([](Rank rank) { return order::floor_log2(static_cast<Count>(rank) + 1); });
  add([](Rank) { return 0; });
  add([](Rank rank) { return rank; });
  return all;
}

void check_job(Cases& cases, const Context& job) {
  if (offers(cases.algorithm.collectives, Collective::reduce_scatter)) check_blocks(cases, job);
  for (const auto& layout : layouts_of(cases.algorithm, job.rank_count)) {
    for (const std::uint32_t segments : segments_of(cases.algorithm, job)) {
      Context context = job;
      context.segments = segments;
      context.layout = layout ? &*layout : nullptr;
      check_collectives(cases, context);
    }
  }
}

}  // namespace

std::vector<SweepPart> parts_of_sweep(Rank first, Rank last, Algorithms algorithms) {
  std::vector<SweepPart> parts;
  for (const Algorithm& algorithm : algorithms) {
    for (const std::string& name : names_to_check(algorithm)) {
      const Spec spec = parse(name, algorithms);
      for (Rank rank_count = first; rank_count <= last; ++rank_count) {
        // In a huge job all slots are used again with the default of `open=`, too.
        if (is_huge(rank_count) && has(name, ":open=")) break;
        parts.push_back({spec, rank_count});
      }
    }
  }
  return parts;
}

SweepResult check_part(const SweepPart& part, Prover& prover) {
  const Algorithm& algorithm = *part.spec.algorithm;
  Cases cases{algorithm, prover, {}};
  for (const auto& nodes : nodes_of(algorithm, part.spec, part.rank_count))
    check_job(cases, {.rank_count = part.rank_count, .spec = &part.spec, .nodes = nodes ? &*nodes : nullptr});
  return std::move(cases.sweep);
}

SweepResult check_all(Rank first, Rank last, Algorithms algorithms) {
  SweepResult sweep;
  Prover prover;
  for (const SweepPart& part : parts_of_sweep(first, last, algorithms)) sweep.add(check_part(part, prover));
  return sweep;
}

bool is_swept(const Spec& spec) {
  Spec without_block = spec;
  std::erase_if(without_block.parameters, [](const Spec::Parameter& each) { return each.name == "block"; });
  const std::string text = text_of(without_block);
  const std::vector<std::string> names = names_to_check(*spec.algorithm);
  return std::ranges::find(names, text) != names.end();
}

}  // namespace steadfold::schedule
