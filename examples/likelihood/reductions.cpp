// Plain and Steadfold's sums; see reductions.hpp.
#include "reductions.hpp"

#include <array>
#include <numeric>

namespace likelihood {
namespace {

constexpr auto add = [](const Score& left, const Score& right) {
  return Score{left.log_likelihood + right.log_likelihood, left.first + right.first, left.second + right.second};
};

}  // namespace

Score Reduction::sum(std::span<const Score> scores) {
  const Score total = reduce(scores);
  for (const double value : {total.log_likelihood, total.first, total.second}) noted(value);
  return total;
}

double PlainReduction::reduce(std::span<const double> values) {
  double total = std::accumulate(values.begin(), values.end(), 0.0);
  MPI_Allreduce(MPI_IN_PLACE, &total, 1, MPI_DOUBLE, MPI_SUM, comm());
  return total;
}

Score PlainReduction::reduce(std::span<const Score> scores) {
  const Score local = std::accumulate(scores.begin(), scores.end(), Score{}, add);
  std::array<double, 3> total = {local.log_likelihood, local.first, local.second};
  MPI_Allreduce(MPI_IN_PLACE, total.data(), 3, MPI_DOUBLE, MPI_SUM, comm());
  return {total[0], total[1], total[2]};
}

SteadfoldReduction::SteadfoldReduction(std::uint64_t count, MPI_Comm comm, Fingerprint& fingerprint)
    : Reduction(comm, fingerprint), in_tree_{.method = sf::tree(), .layout = sf::Layout::contiguous(count, comm)} {}

double SteadfoldReduction::reduce(std::span<const double> values) { return sf::sum(values, comm(), in_tree_); }

// Elements may have any trivially copyable type: here three numbers travel in one message.
Score SteadfoldReduction::reduce(std::span<const Score> scores) { return sf::reduce(scores, add, comm(), in_tree_); }

}  // namespace likelihood
