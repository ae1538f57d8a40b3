// A small tree search as in maximum-likelihood programs: Newton's method on branch lengths, and nearest-neighbour
// interchanges kept where they raise the likelihood. Every decision depends on sums over all sites of all ranks.
#pragma once

#include <span>

#include "reductions.hpp"

namespace likelihood {

struct Found {
  Tree tree;
  double log_likelihood;
  int steps = 0;  // sums over all sites
  int moves = 0;  // interchanges that were kept
};

/// Searches from starting_tree(); `sites` are this rank's. Collective.
Found search(std::span<const Site> sites, Reduction& reduction);

}  // namespace likelihood
