// Per-site likelihoods by pruning (Felsenstein 1981) under the Jukes-Cantor model. A site's numbers are a function of
// that site and the tree alone: plain loops over one site at a time, nothing summed over sites.
#pragma once

#include <span>
#include <vector>

#include "alignment.hpp"
#include "tree.hpp"

namespace likelihood {

/// The likelihood of one site as a function of one branch's length t: constant + slope * exp(-4t/3).
struct SiteTerms {
  double constant, slope;
};

/// The log-likelihood of a site, or of many, and its first two derivatives by a branch's length.
struct Score {
  double log_likelihood = 0, first = 0, second = 0;
};

/// The terms of all sites for branch `branch`; `terms` has as many entries as there are sites.
void prune(const Tree& tree, int branch, std::span<const Site> sites, std::span<SiteTerms> terms);

/// The log-likelihoods of all sites.
std::vector<double> log_likelihoods(const Tree& tree, std::span<const Site> sites);

/// The scores of all sites at length `length` of the branch that `terms` belongs to.
void score(std::span<const SiteTerms> terms, double length, std::span<Score> scores);

}  // namespace likelihood
