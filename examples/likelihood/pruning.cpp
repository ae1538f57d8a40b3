// Felsenstein's pruning; see pruning.hpp. Twelve taxa are far from underflow, so nothing is scaled.
#include "pruning.hpp"

#include <cmath>

namespace likelihood {
namespace {

/// For each nucleotide at a node, the probability of the observations below the node.
using Conditionals = std::array<double, 4>;

double decay(double length) { return std::exp(-4.0 / 3.0 * length); }

/// One step of the pruning: computes the conditionals of `node` from those of its two children.
struct Step {
  std::size_t node;
  std::array<std::size_t, 2> below;
  std::array<double, 2> decays;
};

/// Appends the steps that give the conditionals of `node` for what is observed on its side away from `branch`.
void plan_below(const Tree& tree, int branch, int node, std::vector<Step>& steps) {
  if (node < taxon_count) return;
  Step step{static_cast<std::size_t>(node), {}, {}};
  std::size_t i = 0;
  for (const int other : tree.others(branch, node)) {
    plan_below(tree, other, tree.across(other, node), steps);
    step.below[i] = static_cast<std::size_t>(tree.across(other, node));
    step.decays[i++] = decay(tree.branch(other).length);
  }
  steps.push_back(step);
}

/// Computes the conditionals at the upper end of a branch from those at its lower end.
Conditionals propagate(const Conditionals& below, double decay) {
  const double total = (below[0] + below[1]) + (below[2] + below[3]);
  const double substituted = 0.25 * (1 - decay) * total;
  Conditionals above;
  for (std::size_t i = 0; i < 4; ++i) above[i] = substituted + decay * below[i];
  return above;
}

Conditionals seen(std::uint8_t nucleotide) {
  Conditionals conditionals{};
  conditionals[nucleotide] = 1;
  return conditionals;
}

SiteTerms join(const Conditionals& a, const Conditionals& b) {
  const double totals = ((a[0] + a[1]) + (a[2] + a[3])) * ((b[0] + b[1]) + (b[2] + b[3]));
  const double matches = (a[0] * b[0] + a[1] * b[1]) + (a[2] * b[2] + a[3] * b[3]);
  const double constant = totals / 16;
  return {constant, matches / 4 - constant};
}

}  // namespace

void prune(const Tree& tree, int branch, std::span<const Site> sites, std::span<SiteTerms> terms) {
  const auto [upper, lower, length] = tree.branch(branch);
  std::vector<Step> steps;
  plan_below(tree, branch, upper, steps);
  plan_below(tree, branch, lower, steps);

  std::array<Conditionals, node_count> at{};
  for (std::size_t s = 0; s < sites.size(); ++s) {
    for (std::size_t t = 0; t < taxon_count; ++t) at[t] = seen(sites[s][t]);
    for (const Step& step : steps) {
      const Conditionals left = propagate(at[step.below[0]], step.decays[0]);
      const Conditionals right = propagate(at[step.below[1]], step.decays[1]);
      for (std::size_t i = 0; i < 4; ++i) at[step.node][i] = left[i] * right[i];
    }
    terms[s] = join(at[static_cast<std::size_t>(upper)], at[static_cast<std::size_t>(lower)]);
  }
}

std::vector<double> log_likelihoods(const Tree& tree, std::span<const Site> sites) {
  constexpr int any_branch = 0;  // the model is reversible: every branch gives the same likelihood
  std::vector<SiteTerms> terms(sites.size());
  prune(tree, any_branch, sites, terms);
  const double e = decay(tree.branch(any_branch).length);
  std::vector<double> result(sites.size());
  for (std::size_t s = 0; s < sites.size(); ++s) result[s] = std::log(terms[s].constant + terms[s].slope * e);
  return result;
}

void score(std::span<const SiteTerms> terms, double length, std::span<Score> scores) {
  const double e = decay(length);
  for (std::size_t s = 0; s < terms.size(); ++s) {
    const double varying = terms[s].slope * e;
    const double likelihood = terms[s].constant + varying;
    const double share = varying / likelihood;
    scores[s] = {std::log(likelihood), -4.0 / 3.0 * share, 16.0 / 9.0 * (share - share * share)};
  }
}

}  // namespace likelihood
