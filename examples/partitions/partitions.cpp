// Log-likelihoods of the partitions of an alignment, as RAxML-NG computes them: every worker (a thread of a rank) has a
// piece of some partitions, and every worker gets the sums of all partitions. docs/how_to/raxml_ng.md explains it.
//
// mpicxx -std=c++11 -pthread -I include examples/partitions/partitions.cpp -L build/lib -lsteadfold_mpi -lsteadfold
//   -Wl,-rpath,$PWD/build/lib -o partitions
// mpirun -n 3 ./partitions 2   (2 threads on each rank)
#include <mpi.h>
#include <steadfold/steadfold.h>
#include <steadfold/steadfold_mpi.h>
#include <steadfold/steadfold_team.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <thread>
#include <vector>

namespace {

void check(sf_status status) {
  if (status == SF_OK) return;
  std::fprintf(stderr, "%s\n", sf_error_text());
  std::exit(1);
}

// bind: one sum per partition, all in one message; `pieces` has the range of patterns of every partition that this
// worker computes, or an empty range
sf_plan* bind_sums(const std::vector<sf_interval>& pieces, sf_group* group) {
  std::vector<sf_call> calls;
  for (const sf_interval& piece : pieces) {
    sf_call call = sf_call_default();  // a sum of doubles
    call.method = SF_TREE;
    call.layout = SF_INTERVALS;
    call.intervals = &piece;
    call.interval_count = 1;
    call.rows = piece.end - piece.begin;
    calls.push_back(call);
  }
  sf_plan* plan = nullptr;
  check(sf_group_bind(calls.data(), calls.size(), group, &plan));
  return plan;
}

// run: persite_lnl[p] has the values of this worker's patterns; loglh[p] receives the sum of partition p
void reduce(sf_plan* plan, const std::vector<const double*>& persite_lnl, std::vector<double>& loglh) {
  std::vector<sf_data> data(loglh.size());
  for (std::size_t p = 0; p < data.size(); ++p) {
    data[p].first = persite_lnl[p];
    data[p].result = &loglh[p];
  }
  check(sf_bundle_run(plan, data.data(), data.size()));
}

// The numbers of patterns of the partitions.
const std::vector<std::uint64_t> patterns = {1000, 37, 4200, 1, 650};

// The log-likelihood of a pattern, times its weight: some number that depends on nothing else.
double log_likelihood(std::size_t partition, std::uint64_t pattern) {
  const std::uint32_t mixed = static_cast<std::uint32_t>((pattern + 1) * 2654435761U + partition * 40503U);
  return -(1 + mixed * 40.0 / 4294967291.0) * static_cast<double>(1 + pattern % 7);
}

// Deals all patterns to the workers in contiguous shares of one size, and returns a worker's pieces.
std::vector<sf_interval> pieces_of(std::uint64_t worker, std::uint64_t workers) {
  const std::uint64_t all = std::accumulate(patterns.begin(), patterns.end(), std::uint64_t(0));
  const std::uint64_t begin = all * worker / workers, end = all * (worker + 1) / workers;
  std::vector<sf_interval> pieces;
  std::uint64_t first = 0;  // the first pattern of the partition
  for (const std::uint64_t count : patterns) {
    const auto inside = [&](std::uint64_t x) { return x < first ? 0 : x > first + count ? count : x - first; };
    pieces.push_back(sf_interval{inside(begin), inside(end)});
    first += count;
  }
  return pieces;
}

void print(const char* name, const std::vector<double>& sums) {
  std::printf("%s", name);
  for (const double sum : sums) {
    std::uint64_t bits;
    std::memcpy(&bits, &sum, sizeof bits);
    std::printf(" %016llX", static_cast<unsigned long long>(bits));
  }
  std::printf("\n");
}

// One worker's part. Writes the worker's own sums to `plain`.
void work(std::uint64_t worker, std::uint64_t workers, sf_group* group, std::vector<double>& plain) {
  const std::vector<sf_interval> pieces = pieces_of(worker, workers);
  std::vector<std::vector<double>> values(pieces.size());
  std::vector<const double*> persite_lnl;
  for (std::size_t p = 0; p < pieces.size(); ++p) {
    for (std::uint64_t i = pieces[p].begin; i < pieces[p].end; ++i) values[p].push_back(log_likelihood(p, i));
    persite_lnl.push_back(values[p].empty() ? nullptr : values[p].data());
    plain.push_back(std::accumulate(values[p].begin(), values[p].end(), 0.0));
  }
  sf_plan* const plan = bind_sums(pieces, group);  // once, after the patterns have been dealt to the workers
  std::vector<double> loglh(pieces.size());
  for (int evaluation = 0; evaluation < 3; ++evaluation) reduce(plan, persite_lnl, loglh);
  sf_plan_free(plan);
  if (worker == 0) print("tree", loglh);
}

}  // namespace

int main(int argc, char** argv) {
  int provided = 0, rank = 0, ranks = 1;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int threads = argc > 1 ? std::atoi(argv[1]) : 1;
  std::vector<std::vector<double>> plain(static_cast<std::size_t>(threads));

  // team: the threads of all ranks are the workers of one team; worker 0 of a rank is the thread that may call MPI
  sf_team* team = nullptr;
  check(sf_team_create_over(MPI_COMM_WORLD, threads, &team));
  const auto start = [&](int thread) {
    sf_group* group = nullptr;
    check(sf_team_group(team, thread, &group));
    work(static_cast<std::uint64_t>(rank * threads + thread), static_cast<std::uint64_t>(ranks * threads), group,
         plain[static_cast<std::size_t>(thread)]);
  };
  std::vector<std::thread> others;
  for (int thread = 1; thread < threads; ++thread) others.emplace_back(start, thread);
  start(0);
  for (std::thread& other : others) other.join();
  sf_team_free(team);

  // As parallel_reduce_cb of RAxML-NG does: the sums of the threads, then MPI_Allreduce.
  std::vector<double> sums(patterns.size());
  for (const std::vector<double>& of_thread : plain)
    for (std::size_t p = 0; p < sums.size(); ++p) sums[p] += of_thread[p];
  MPI_Allreduce(MPI_IN_PLACE, sums.data(), static_cast<int>(sums.size()), MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) print("plain", sums);
  MPI_Finalize();
}
