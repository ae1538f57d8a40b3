// The study of [S0]: its data sets, and the parts of the study, one file each.
// Source: [S0] table 4.1. The data are per-site log-likelihoods that RAxML-NG printed. Data sets without a file are
// generated with the same sizes.
#pragma once

#include <array>
#include <cstdint>

#include "bench/harness.hpp"
#include "prediction/prediction.hpp"
#include "study.hpp"

namespace steadfold::command::studies::thesis {

struct DataSet {
  std::string_view name;
  std::uint64_t element_count;
};

/// Ascending by size.
inline constexpr std::array<DataSet, 10> data_sets = {{{"354", 460},
                                                       {"multi100", 767},
                                                       {"prim", 898},
                                                       {"fusob", 1602},
                                                       {"dna_rokasD4", 239763},
                                                       {"aa_rokasA8", 504850},
                                                       {"dna_rokasD1", 1327505},
                                                       {"aa_rokasA4", 1806035},
                                                       {"dna_PeteD8", 3011099},
                                                       {"dna_rokasD7", 21410970}}};

Findings nodes(const Asked& asked);
Findings messages(const Asked& asked);
Findings buffer_of_messages(const Asked& asked);
Findings scaling(const Asked& asked);
Findings lookup(const Asked& asked);
Findings summation(const Asked& asked);
Findings time(const Asked& asked);
Findings reproducibility(const Asked& asked);

/// Seconds per call of each candidate, all measured in turn.
std::vector<double> medians_of(std::span<const bench::Candidate> candidates, int rounds);

/// A sum to rank 0 by `tree` over a flat network.
prediction::Prediction prediction_of(const std::string& schedule, const std::vector<order::Count>& counts,
                                     const transport::LogGP& link);

inline constexpr std::array<Part, 8> parts = {{
    {"nodes", "PE-intersecting nodes, and messages and predicted times of [S0]'s scheme and of a rank tree", nodes},
    {"messages", "PE-intersecting nodes on 256 ranks by the number of elements, and [S0]'s bound", messages},
    {"buffer", "messages of [S0]'s scheme with a buffer of four nodes, and predicted times, by its flush threshold",
     buffer_of_messages},
    {"scaling", "predicted times and speedups of all data sets' sizes on up to 1280 ranks", scaling},
    {"lookup", "the rank of an element: a walk, a binary search, a closed form", lookup},
    {"summation", "sums of one process: by a function that calls itself, by a loop, by `tree`", summation},
    {"time", "sums at rank 0 of all data sets' sizes, as ratios to std::accumulate and MPI_Reduce", time},
    {"reproducibility", "sums over 1, 17, ..., 241 simulated ranks: how many different results, how far off",
     reproducibility},
}};

}  // namespace steadfold::command::studies::thesis
