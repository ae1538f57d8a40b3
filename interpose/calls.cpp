// The wrappers of MPI's functions, and what the environment asks for.
// Trust: count, type and operator are the same on all ranks, as MPI demands, so nothing is asked per call.
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include "communicator.hpp"
#include "functions.h"
#include "movement.hpp"
#include "report.hpp"
#include "rows.hpp"

namespace steadfold::interpose {
namespace {

const steadfold_interpose_shim* shim = nullptr;

struct Settings {
  Treatment method = Treatment::tree;
  bool is_reported = false;
  std::string fault;  // "problem (why), suggestion", or empty
};

Settings read_settings() {
  Settings read;
  const char* const report = std::getenv("STEADFOLD_INTERPOSE_REPORT");
  read.is_reported = report != nullptr && std::strcmp(report, "1") == 0;
  const char* const given = std::getenv("STEADFOLD_INTERPOSE_METHOD");
  const std::string method = given == nullptr ? "" : given;
  if (method == "exact")
    read.method = Treatment::exact;
  else if (method == "binned")
    read.method = Treatment::binned;
  else if (!method.empty() && method != "tree")
    read.fault = "unknown method '" + method + "' (in STEADFOLD_INTERPOSE_METHOD), take tree, exact or binned";
  return read;
}

const Settings& settings() {
  static const Settings read = read_settings();
  return read;
}

/// The definition of a function behind the shim.
template <class Function>
Function next(steadfold_interpose_index index) {
  return reinterpret_cast<Function>(shim->next[index]);
}

[[noreturn]] void end_program(MPI_Comm comm, const std::string& why) {
  std::fprintf(stderr, "steadfold: %s\n", why.c_str());
  PMPI_Abort(comm, 1);
  std::abort();  // where the launcher does not come to it
}

// --- Init and Finalize ---

/// The ranks agree that all were started alike, the only time that they ask each other.
void compare_settings() {
  int rank = 0, size = 1;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  PMPI_Comm_size(MPI_COMM_WORLD, &size);
  const int method = static_cast<int>(settings().method);
  unsigned hash = 0;
  for (const char* c = STEADFOLD_VERSION; *c != '\0'; ++c) hash = hash * 31 + static_cast<unsigned char>(*c);
  const int version = static_cast<int>(hash & 0xFFFFFF);
  const std::array<int, 5> mine = {method, -method, version, -version, settings().fault.empty() ? size : rank};
  std::array<int, 5> least{};
  PMPI_Allreduce(mine.data(), least.data(), static_cast<int>(mine.size()), MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  if (least[4] == rank) end_program(MPI_COMM_WORLD, settings().fault);
  const bool are_alike = least[0] == -least[1] && least[2] == -least[3];
  if (!are_alike && least[4] == size && rank == 0)
    end_program(
        MPI_COMM_WORLD,
        "ranks were started with other methods or releases of Steadfold than others (STEADFOLD_INTERPOSE_METHOD, "
        "LD_PRELOAD), give all ranks the same environment");
  if (!are_alike || least[4] < size) PMPI_Barrier(MPI_COMM_WORLD);  // which another rank ends
}

int init(int* argc, char*** argv) {
  const int code = next<int (*)(int*, char***)>(MPI_Init_index)(argc, argv);
  if (code == MPI_SUCCESS) compare_settings();
  return code;
}

int init_thread(int* argc, char*** argv, int required, int* provided) {
  const int code = next<int (*)(int*, char***, int, int*)>(MPI_Init_thread_index)(argc, argv, required, provided);
  if (code == MPI_SUCCESS) compare_settings();
  return code;
}

int finalize() {
  int rank = 0, size = 1;
  const bool is_running = communicator_of(MPI_COMM_SELF).treatment != Treatment::outside;
  if (is_running && settings().is_reported) {
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank == 0) print_report(*shim, settings().method, rank, size);
  }
  note_end();
  return next<int (*)()>(MPI_Finalize_index)();
}

// --- reductions ---

/// Whether a function with large counts is called that the MPI library does not have. Then its like with ints serves:
/// it stands as far before it as the first of them does.
template <class Count>
bool is_missing(steadfold_interpose_index index) {
  return !std::is_same_v<Count, int> && shim->next[index] == nullptr;
}
steadfold_interpose_index with_ints(steadfold_interpose_index index) {
  return static_cast<steadfold_interpose_index>(index - (MPI_Allreduce_c_index - MPI_Allreduce_index));
}
int as_int(MPI_Count count, MPI_Comm comm) {
  constexpr MPI_Count most = std::numeric_limits<int>::max();
  if (count > most)
    end_program(comm, "a count of " + std::to_string(count) + " (this MPI library has no functions for large ones)");
  return static_cast<int>(count);
}

/// What is done with a call of `count` elements on a rank; all ranks come to the same.
Treatment treatment_of(const Communicator& comm, const Elements& elements, MPI_Count count) {
  if (is_passed_on(comm.treatment)) return comm.treatment;
  if (count < 0) return Treatment::refused;
  if (is_passed_on(elements.treatment())) return elements.treatment();
  if (count == 0 || elements.bytes() == 0) return Treatment::no_elements;
  return fits(elements, comm) ? elements.treatment() : Treatment::too_large;
}

/// Carries a call out with `handled`, or passes it on.
template <class Handled, class PassedOn>
int carry_out(steadfold_interpose_index index, const Elements& elements, MPI_Op op, MPI_Datatype type, MPI_Count count,
              const Communicator& comm, Treatment treatment, Handled handled, PassedOn passed_on) {
  if (settings().is_reported) {
    int size = 0;
    if (elements.treatment() == Treatment::order_free) PMPI_Type_size(type, &size);
    const std::size_t bytes = elements.bytes() + static_cast<std::size_t>(std::max(size, 0));
    note(index, op, type, bytes * static_cast<std::size_t>(std::max<MPI_Count>(count, 0)), treatment);
  }
  if (is_passed_on(treatment)) return passed_on();
  if (!settings().fault.empty()) end_program(comm.handle, settings().fault);  // where no Init was seen: Fortran's
  try {
    return handled();
  } catch (const std::exception& fault) {
    end_program(comm.handle, std::string(shim->names[index]) + ": " + fault.what());
  }
}

/// The call as the program made it, to the definition behind the shim.
template <class... Arguments>
int pass_on(steadfold_interpose_index index, Arguments... arguments) {
  return next<int (*)(Arguments...)>(index)(arguments...);
}

/// Allreduce, Scan and Exscan, whose arguments are the same; `move` brings the rows together.
template <auto move, class Count>
int reduce_alike(steadfold_interpose_index index, const void* from, void* to, Count count, MPI_Datatype type, MPI_Op op,
                 MPI_Comm handle) {
  if (is_missing<Count>(index))
    return reduce_alike<move, int>(with_ints(index), from, to, as_int(count, handle), type, op, handle);
  const Elements elements(type, op, settings().method);
  const Communicator comm = communicator_of(handle);
  return carry_out(
      index, elements, op, type, count, comm, treatment_of(comm, elements, count),
      [&] {
        return move(Operands{elements, from, to}, count, comm);
      },
      [&] { return pass_on(index, from, to, count, type, op, handle); });
}
constexpr auto inclusive_scan = [](const Operands& call, MPI_Count count, const Communicator& comm) {
  return scan(call, count, true, comm);
};
constexpr auto exclusive_scan = [](const Operands& call, MPI_Count count, const Communicator& comm) {
  return scan(call, count, false, comm);
};

template <class Count>
int reduce(steadfold_interpose_index index, const void* from, void* to, Count count, MPI_Datatype type, MPI_Op op,
           int root, MPI_Comm handle) {
  if (is_missing<Count>(index))
    return reduce<int>(with_ints(index), from, to, as_int(count, handle), type, op, root, handle);
  const Elements elements(type, op, settings().method);
  const Communicator comm = communicator_of(handle);
  Treatment treatment = treatment_of(comm, elements, count);
  if (!is_passed_on(treatment) && (root < 0 || root >= comm.size)) treatment = Treatment::refused;
  return carry_out(
      index, elements, op, type, count, comm, treatment,
      [&] {
        return interpose::reduce({elements, from, to}, count, root, comm);
      },
      [&] { return pass_on(index, from, to, count, type, op, root, handle); });
}

/// `counts` has an entry for each rank.
template <class Count>
int reduce_scatter(steadfold_interpose_index index, const void* from, void* to, const Count* counts, MPI_Datatype type,
                   MPI_Op op, MPI_Comm handle) {
  if (is_missing<Count>(index)) {
    int size = 0;
    if (const int code = PMPI_Comm_size(handle, &size); code != MPI_SUCCESS) return code;
    std::vector<int> ints;
    for (int r = 0; r < size; ++r) ints.push_back(as_int(counts[r], handle));
    return reduce_scatter<int>(with_ints(index), from, to, ints.data(), type, op, handle);
  }
  const Elements elements(type, op, settings().method);
  const Communicator comm = communicator_of(handle);
  Treatment treatment = treatment_of(comm, elements, 1);
  std::vector<MPI_Count> all;
  MPI_Count total = 0;
  if (!is_passed_on(treatment)) {
    all.assign(counts, counts + comm.size);
    for (const MPI_Count count : all) {
      if (count < 0) treatment = Treatment::refused;
      total += count;
    }
    if (total == 0 && !is_passed_on(treatment)) treatment = Treatment::no_elements;
  }
  return carry_out(
      index, elements, op, type, total, comm, treatment,
      [&] {
        return interpose::reduce_scatter({elements, from, to}, all, comm);
      },
      [&] { return pass_on(index, from, to, counts, type, op, handle); });
}

template <class Count>
int reduce_scatter_block(steadfold_interpose_index index, const void* from, void* to, Count count, MPI_Datatype type,
                         MPI_Op op, MPI_Comm handle) {
  if (is_missing<Count>(index))
    return reduce_scatter_block<int>(with_ints(index), from, to, as_int(count, handle), type, op, handle);
  const Elements elements(type, op, settings().method);
  const Communicator comm = communicator_of(handle);
  return carry_out(
      index, elements, op, type, MPI_Count{count} * comm.size, comm, treatment_of(comm, elements, count),
      [&] {
        const std::vector<MPI_Count> counts(static_cast<std::size_t>(comm.size), count);
        return interpose::reduce_scatter({elements, from, to}, counts, comm);
      },
      [&] { return pass_on(index, from, to, count, type, op, handle); });
}

/// `wrapper` as MPI calls it: bound to the number of its function.
template <steadfold_interpose_index index, auto wrapper>
struct Bound;
template <steadfold_interpose_index index, class... Arguments, int (*wrapper)(steadfold_interpose_index, Arguments...)>
struct Bound<index, wrapper> {
  static int call(Arguments... arguments) { return wrapper(index, arguments...); }
};

std::array<steadfold_interpose_function, steadfold_interpose_count> wrappers() {
  std::array<steadfold_interpose_function, steadfold_interpose_count> all{};
  const auto set = [&](steadfold_interpose_index index, auto function) {
    all[index] = reinterpret_cast<steadfold_interpose_function>(function);
  };
  set(MPI_Init_index, init);
  set(MPI_Init_thread_index, init_thread);
  set(MPI_Finalize_index, finalize);
  set(MPI_Allreduce_index, Bound<MPI_Allreduce_index, reduce_alike<interpose::allreduce, int>>::call);
  set(MPI_Reduce_index, Bound<MPI_Reduce_index, reduce<int>>::call);
  set(MPI_Reduce_scatter_index, Bound<MPI_Reduce_scatter_index, reduce_scatter<int>>::call);
  set(MPI_Reduce_scatter_block_index, Bound<MPI_Reduce_scatter_block_index, reduce_scatter_block<int>>::call);
  set(MPI_Scan_index, Bound<MPI_Scan_index, reduce_alike<inclusive_scan, int>>::call);
  set(MPI_Exscan_index, Bound<MPI_Exscan_index, reduce_alike<exclusive_scan, int>>::call);
  set(MPI_Allreduce_c_index, Bound<MPI_Allreduce_c_index, reduce_alike<interpose::allreduce, MPI_Count>>::call);
  set(MPI_Reduce_c_index, Bound<MPI_Reduce_c_index, reduce<MPI_Count>>::call);
  set(MPI_Reduce_scatter_c_index, Bound<MPI_Reduce_scatter_c_index, reduce_scatter<MPI_Count>>::call);
  set(MPI_Reduce_scatter_block_c_index, Bound<MPI_Reduce_scatter_block_c_index, reduce_scatter_block<MPI_Count>>::call);
  set(MPI_Scan_c_index, Bound<MPI_Scan_c_index, reduce_alike<inclusive_scan, MPI_Count>>::call);
  set(MPI_Exscan_c_index, Bound<MPI_Exscan_c_index, reduce_alike<exclusive_scan, MPI_Count>>::call);
  return all;
}

}  // namespace
}  // namespace steadfold::interpose

extern "C" const steadfold_interpose_function* steadfold_interpose_layer(const steadfold_interpose_shim* shim) {
  namespace interpose = steadfold::interpose;
  if (std::strcmp(shim->version, STEADFOLD_VERSION) != 0) return nullptr;
  interpose::shim = shim;
  static const auto all = interpose::wrappers();
  return all.data();
}
