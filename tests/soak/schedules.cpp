// Chooses a schedule that must serve all given calls. The algorithms of the registry say which they serve, so a new
// algorithm is tried without a change here.
#include <algorithm>
#include <optional>

#include "case.hpp"
#include "schedule/registry.hpp"

namespace steadfold::soak {
namespace {

schedule::Collective collective_of(const Member& m) {
  switch (m.collective) {
    case SF_REDUCE_SCATTER: return schedule::Collective::reduce_scatter;
    case SF_SCAN: return schedule::Collective::scan;
    case SF_EXSCAN: return schedule::Collective::exscan;
    default: return m.root == SF_ALL_RANKS ? schedule::Collective::allreduce : schedule::Collective::reduce;
  }
}

/// Repeated here, so that the test does not ask the library for the answer.
schedule::Merging merging_of(const Member& m) {
  const sf_method method = m.resolved_method();
  return {.method = "asked",
          .is_associative = method != SF_PLAIN || m.order_free(),
          .may_overlap = method == SF_PLAIN,
          .offers_words = m.operation != SF_STATISTICS && !is_quotient_of_pairs(m.operation) && !m.has_own_rows() &&
                          (method == SF_EXACT || (method == SF_BINNED && m.sweep == SF_DOUBLE_SWEEP))};
}

schedule::OperatorKind kind_of(const Member& m) {
  if (m.order_free() && (!m.has_neutral() || m.operation == SF_NORMINF)) return schedule::OperatorKind::idempotent;
  return m.commutes() ? schedule::OperatorKind::commutative : schedule::OperatorKind::ordered;
}

/// A schedule of the algorithm, with random parameters or without, and sometimes an example of the algorithm.
std::string text_of(Random& random, const schedule::Algorithm& algorithm, std::uint64_t smallest_block) {
  const std::vector<std::string> named = schedule::names_of(algorithm);
  const std::string name(algorithm.name);
  if (smallest_block == 1 && random.one_in(3)) return named[random.below(named.size())];
  std::string text = name;
  for (const std::string_view parameter : algorithm.parameters) {
    std::string value;
    if (parameter == "block")
      value = std::to_string(std::max(random.one_of<std::uint64_t>({1, 2, 3, 7, 64, 500, 1024}), smallest_block));
    if (parameter == "tree") value = random.one_of({"binary", "binomial", "chain", "flat", "kary"});
    if (parameter == "k") value = std::to_string(random.from_to(2, 9));
    if (parameter == "size") value = std::to_string(random.from_to(1, 9));
    if (parameter == "buffer" || parameter == "n") value = std::to_string(random.from_to(1, 9));
    if (!value.empty() && random.one_in(2)) text += ":" + std::string(parameter) + "=" + value;
  }
  return text;
}

bool serves(const schedule::Spec& spec, const Member& m, bool bundled) {
  const bool follows_layout = spec.algorithm->layouts == schedule::Layouts::rank_order;
  if (follows_layout && (bundled || !m.in_rank_order())) return false;
  if (follows_layout && m.array.groups > 0 && m.resolved_method() == SF_TREE) return false;
  return !schedule::refusal(spec, collective_of(m), m.root, merging_of(m), kind_of(m));
}

}  // namespace

std::string some_schedule(Random& random, const std::vector<Member>& members, const Limits& limits) {
  if (random.one_in(3)) return "";
  if (random.one_in(6)) return random.one_in(2) ? "auto" : "mpich";
  std::uint64_t columns = 0;
  for (const Member& m : members) columns = std::max(columns, m.columns);
  const auto algorithms = schedule::registry();
  for (int tries = 0; tries < 20; ++tries) {
    const std::string text =
        text_of(random, algorithms[random.below(algorithms.size())], columns / limits.segments + 1);
    std::optional<schedule::Spec> spec;
    try {
      spec = schedule::parse(text);
    } catch (const std::invalid_argument&) {
      continue;  // some combinations of parameters are not allowed
    }
    if (spec->algorithm->adds_words && !limits.adds_words) continue;
    const bool good = std::all_of(members.begin(), members.end(),
                                  [&](const Member& m) { return serves(*spec, m, members.size() > 1); });
    if (good) return text;
  }
  return "";
}

}  // namespace steadfold::soak
