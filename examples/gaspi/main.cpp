// GASPI's way to overlap a reduction with work, on Steadfold: a call with a timeout, made again until it has ended.
//
//   mpirun -n 5 example_gaspi
//
// Every rank brings 255 doubles, reduces them with those of all others, and works while it waits: by GASPI's sum and by
// an operation of its own, which has the same bits. Prints a hash of the bits, which no algorithm and no MPI library
// changes (MPI's and GASPI's shape: they do follow the number of ranks), and how often the time was over.
#include <mpi.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <numeric>
#include <vector>

#include "steadfold/steadfold_gaspi.h"
#include "steadfold/steadfold_mpi.h"

namespace {

constexpr std::uint32_t places = 255;  // the most that GASPI promises
constexpr sf_gaspi_timeout timeout_ms = 1;

/// The number that one rank adds to an element. Plain sums of these numbers depend on the order of addition.
double summand(std::uint32_t place, int rank) {
  return std::ldexp(std::sin(place + 1.0), (place * 7 + static_cast<std::uint32_t>(rank) * 13) % 50) - 1e8;
}

/// Some work of the rank's own; Newton's method stays where it is once it has arrived.
double work(double x) {
  for (int i = 0; i < 1000; ++i) x = 0.5 * (x + 2 / x);
  return x;
}

/// An operation of the user's: the sum, and how many elements it combined.
sf_gaspi_return counted_sum(const void* one, const void* two, void* result, void* state, std::uint32_t num,
                            std::size_t /*element_size*/, sf_gaspi_timeout /*timeout_ms*/) {
  const auto* a = static_cast<const double*>(one);
  const auto* b = static_cast<const double*>(two);
  auto* to = static_cast<double*>(result);
  for (std::uint32_t i = 0; i < num; ++i) to[i] = a[i] + b[i];
  *static_cast<std::uint64_t*>(state) += num;
  return SF_GASPI_SUCCESS;
}

std::uint64_t hash_of(const std::vector<double>& values) {
  std::uint64_t hash = 14695981039346656037u;  // FNV-1a
  for (const double value : values) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof bits);
    hash = (hash ^ bits) * 1099511628211u;
  }
  return hash;
}

/// Makes a call until it has ended, and works meanwhile; returns how often the time was over, or -1 for an error.
template <class Call>
int finish(Call call, double& own) {
  for (int timeouts = 0;; ++timeouts) {
    const sf_gaspi_return done = call();
    if (done == SF_GASPI_SUCCESS) return timeouts;
    if (done == SF_GASPI_ERROR) {
      std::fprintf(stderr, "%s\n", sf_error_text());
      return -1;
    }
    own = work(own);
  }
}

int run() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  sf_group* group = nullptr;
  if (sf_group_of(MPI_COMM_WORLD, &group) != SF_OK) return 1;

  std::vector<double> mine(places);
  for (std::uint32_t i = 0; i < places; ++i) mine[i] = summand(i, rank);
  std::vector<double> sums(places);
  std::vector<double> again(places);
  double own = 1;
  std::uint64_t combined = 0;

  const int summing = finish(
      [&] {
        return sf_gaspi_allreduce(mine.data(), sums.data(), places, SF_GASPI_OP_SUM, SF_GASPI_TYPE_DOUBLE, group,
                                  timeout_ms);
      },
      own);
  const int counting = finish(
      [&] {
        return sf_gaspi_allreduce_user(mine.data(), again.data(), places, sizeof(double), counted_sum, &combined, group,
                                       timeout_ms);
      },
      own);
  const int meeting = finish([&] { return sf_gaspi_barrier(group, SF_GASPI_TEST); }, own);
  if (summing < 0 || counting < 0 || meeting < 0) return 1;
  if (rank == 0)
    std::printf("{\"ranks\": %d, \"hash\": \"%016llx\", \"same_by_own_operation\": %s, \"timeouts\": %d}\n",
                sf_group_size(group), static_cast<unsigned long long>(hash_of(sums)),
                hash_of(sums) == hash_of(again) ? "true" : "false", summing + counting + meeting);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int failed = run();
  MPI_Finalize();
  return failed;
}
