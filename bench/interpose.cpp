// Measures calls of the interposer and calls of the MPI library in one process: MPI_Allreduce calls the interposer. The
// MPI library's functions are looked up in the library itself, because the interposer also handles PMPI_Allreduce.
#include <dlfcn.h>
#include <mpi.h>

#include <string>
#include <vector>

#include "program/job.hpp"
#include "ranks.hpp"

namespace steadfold::bench {
namespace {

using Allreduce = int (*)(const void*, void*, int, MPI_Datatype, MPI_Op, MPI_Comm);
using Iallreduce = int (*)(const void*, void*, int, MPI_Datatype, MPI_Op, MPI_Comm, MPI_Request*);
using Wait = int (*)(MPI_Request*, MPI_Status*);

/// Returns a function of the MPI library. Throws Failure if it is not found.
template <class Function>
Function of_mpi_library(const char* name) {
  Dl_info place{};
  const bool is_found = dladdr(dlsym(RTLD_DEFAULT, "PMPI_Get_library_version"), &place) != 0;
  void* const library = is_found ? dlopen(place.dli_fname, RTLD_LAZY | RTLD_NOLOAD) : nullptr;
  void* const function = library == nullptr ? nullptr : dlsym(library, name);
  if (function == nullptr)
    throw command::Failure(std::string(name) +
                           " is not found (no MPI library of this process has it), report this error");
  return reinterpret_cast<Function>(function);
}

// This file calls MPI's functions and never takes their addresses. The Python package's command is also loaded on
// machines without an MPI library. There the loader would fail at an address, which it needs at once; it needs called
// functions only at their first call.
constexpr Allreduce own_allreduce = [](auto... given) { return MPI_Allreduce(given...); };
constexpr Iallreduce own_iallreduce = [](auto... given) { return MPI_Iallreduce(given...); };
constexpr Wait own_wait = [](auto... given) { return MPI_Wait(given...); };

/// The memory that the candidates of one size use.
struct Rows {
  explicit Rows(std::size_t size) : from(size, 1.0), to(size) {}
  int count() const { return static_cast<int>(from.size()); }
  std::vector<double> from, to;
};

/// Makes a candidate for sums of doubles, or of integers. The order of addition does not change sums of integers.
Candidate blocking(Rows& rows, Allreduce call, MPI_Datatype type) {
  return candidate_of(
      [&rows, call, type] { call(rows.from.data(), rows.to.data(), rows.count(), type, MPI_SUM, MPI_COMM_WORLD); });
}

Candidate started(Rows& rows, Iallreduce call, Wait wait) {
  return candidate_of([&rows, call, wait] {
    MPI_Request request = MPI_REQUEST_NULL;
    call(rows.from.data(), rows.to.data(), rows.count(), MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
    wait(&request, MPI_STATUS_IGNORE);
  });
}

Contest measure(std::size_t count, const std::string& method, int rounds) {
  Rows rows(count);
  Ways ways;
  const auto plain_allreduce = of_mpi_library<Allreduce>("PMPI_Allreduce");
  const auto plain_iallreduce = of_mpi_library<Iallreduce>("PMPI_Iallreduce");
  const auto plain_wait = of_mpi_library<Wait>("PMPI_Wait");
  const std::size_t plain = ways.add_rival("MPI_Allreduce", blocking(rows, plain_allreduce, MPI_DOUBLE));
  const std::size_t plain_started = ways.add_rival("MPI_Iallreduce", started(rows, plain_iallreduce, plain_wait));
  const std::size_t of_integers =
      ways.add_rival("MPI_Allreduce of integers", blocking(rows, plain_allreduce, MPI_INT64_T));
  ways.add({.method = method, .schedule = {}, .call = "MPI_Allreduce", .rivals = {plain}},
           blocking(rows, own_allreduce, MPI_DOUBLE));
  ways.add({.method = method, .schedule = {}, .call = "MPI_Iallreduce", .rivals = {plain_started}},
           started(rows, own_iallreduce, own_wait));
  ways.add(
      {.method = "passed on", .schedule = {}, .call = "MPI_Allreduce", .passthrough = true, .rivals = {of_integers}},
      blocking(rows, own_allreduce, MPI_INT64_T));
  return ways.measure({{"operator", "sum"}, {"count", count}}, rounds);
}

}  // namespace

Measurement interpose(const InterposeOptions& options) {
  Measurement measurement{.environment = environment(), .contests = {}};
  for (const std::size_t count : options.counts)
    measurement.contests.push_back(measure(count, options.method, options.rounds));
  return measurement;
}

}  // namespace steadfold::bench
