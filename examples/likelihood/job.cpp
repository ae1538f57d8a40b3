// One job's work and measurements; see job.hpp.
#include "job.hpp"

#include <algorithm>
#include <functional>

#include "common/ranks.hpp"
#include "search.hpp"

namespace likelihood {
namespace {

using Json = example::Record;
using example::Fingerprint;
using example::Ranks;
using example::to_bits;

constexpr std::size_t repetitions = 5;

/// One way to add up, and its result.
struct Way {
  const char* name;
  std::function<double()> sum;
  double value = 0;
  std::vector<double> seconds = {};
};

/// The ways take turns, so that a disturbance hits all of them; the slowest rank counts.
void measure(std::span<Way> ways, MPI_Comm comm) {
  for (std::size_t repetition = 0; repetition <= repetitions; ++repetition) {
    for (Way& way : ways) {
      MPI_Barrier(comm);
      const double start = MPI_Wtime();
      way.value = way.sum();
      if (repetition > 0) way.seconds.push_back(MPI_Wtime() - start);  // the first call sets things up
    }
  }
  for (Way& way : ways) {
    MPI_Allreduce(MPI_IN_PLACE, way.seconds.data(), static_cast<int>(repetitions), MPI_DOUBLE, MPI_MAX, comm);
    std::sort(way.seconds.begin(), way.seconds.end());
  }
}

Json to_json(const Way& way) {
  return {{"value", way.value}, {"bits", to_bits(way.value)}, {"seconds", way.seconds[repetitions / 2]}};
}

Json to_json(const Found& found) {
  return {{"steps", found.steps},
          {"moves", found.moves},
          {"value", found.log_likelihood},
          {"bits", to_bits(found.log_likelihood)}};
}

/// The sites of the whole alignment and their sum in three ways.
void sum_likelihoods(const Size& size, const Ranks& ranks, Fingerprint& plain, Fingerprint& steadfold, Json& record) {
  const sf::Interval mine = ranks.share(size.sites);
  const double start = MPI_Wtime();
  const std::vector<Site> sites = simulate(mine.begin, mine.end);
  const std::vector<double> values = log_likelihoods(Tree(true_branches()), sites);
  record["seconds_likelihood"] = MPI_Wtime() - start;

  PlainReduction control(ranks.comm, plain);
  SteadfoldReduction ours(values.size(), ranks.comm, steadfold);
  Way ways[] = {{"plain", [&] { return control.sum(values); }},
                {"tree", [&] { return ours.sum(values); }},
                {"exact", [&] { return ours.exact_sum(values); }}};
  measure(ways, ranks.comm);
  for (const Way& way : ways) record[way.name] = to_json(way);
}

/// Runs one search twice: once it sees only plain sums, once only Steadfold's.
void search_twice(const Size& size, const Ranks& ranks, Fingerprint& plain, Fingerprint& steadfold, Json& record) {
  const std::uint64_t count = std::min(size.search_sites, size.sites);
  const sf::Interval mine = ranks.share(count);
  const std::vector<Site> sites = simulate(mine.begin, mine.end);
  PlainReduction control(ranks.comm, plain);
  SteadfoldReduction ours(sites.size(), ranks.comm, steadfold);
  record["search"] = {
      {"sites", count}, {"plain", to_json(search(sites, control))}, {"steadfold", to_json(search(sites, ours))}};
}

}  // namespace

Json run_job(const Size& size, const Ranks& ranks) {
  Json record = {{"application", "likelihood"}, {"ranks", ranks.count}, {"threads", 1},
                 {"sites", size.sites},         {"taxa", taxon_count},  {"mpi", sf_mpi_library()}};
  Fingerprint plain, steadfold;
  sum_likelihoods(size, ranks, plain, steadfold, record);
  search_twice(size, ranks, plain, steadfold, record);
  record["fingerprint_plain"] = plain.text();
  record["fingerprint_steadfold"] = steadfold.text();
  return record;
}

}  // namespace likelihood
