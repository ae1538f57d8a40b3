// The tree search; see search.hpp. It needs some sixty sums only: with more ranks than cores each takes milliseconds,
// more if waiting ranks do not yield.
#include "search.hpp"

#include <algorithm>

namespace likelihood {
namespace {

class Search {
 public:
  Search(std::span<const Site> sites, Reduction& reduction)
      : sites_(sites), reduction_(reduction), terms_(sites.size()), scores_(sites.size()) {}

  double log_likelihood(const Tree& tree) {
    prune(tree, 0, sites_, terms_);
    return evaluate(tree.branch(0).length).log_likelihood;
  }

  /// One step of Newton's method on the length of a branch.
  void improve_length(Tree& tree, int branch) {
    prune(tree, branch, sites_, terms_);
    const double length = tree.branch(branch).length;
    tree.set_length(branch, better_length(length, evaluate(length)));
  }

  int steps() const { return steps_; }

 private:
  static double better_length(double length, const Score& at) {
    // Far from the best length, Newton's parabola may lead much too far, even below zero: steps are limited.
    const double shortest = length / 4, longest = 4 * length;
    if (at.second >= 0) return at.first > 0 ? longest : shortest;
    return std::clamp(length - at.first / at.second, shortest, longest);
  }

  /// The score at `length` of the branch that was pruned last.
  Score evaluate(double length) {
    ++steps_;
    score(terms_, length, scores_);
    return reduction_.sum(scores_);
  }

  std::span<const Site> sites_;
  Reduction& reduction_;
  std::vector<SiteTerms> terms_;
  std::vector<Score> scores_;
  int steps_ = 0;
};

}  // namespace

Found search(std::span<const Site> sites, Reduction& reduction) {
  Search search(sites, reduction);
  Found best{starting_tree(), 0};
  best.log_likelihood = search.log_likelihood(best.tree);
  for (int b = 0; b < branch_count; ++b) {
    if (!best.tree.is_internal(b)) continue;
    for (const int choice : {0, 1}) {
      Tree candidate = best.tree;
      candidate.interchange(b, choice);
      const double log_likelihood = search.log_likelihood(candidate);
      if (log_likelihood <= best.log_likelihood) continue;
      best.tree = candidate;
      best.log_likelihood = log_likelihood;
      ++best.moves;
    }
  }
  for (int round = 0; round < 2; ++round)
    for (int b = 0; b < branch_count; ++b) search.improve_length(best.tree, b);
  best.log_likelihood = search.log_likelihood(best.tree);
  best.steps = search.steps();
  return best;
}

}  // namespace likelihood
