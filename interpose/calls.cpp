// The wrappers of C's functions, and the settings from the environment.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>

#include "diagnosis.hpp"
#include "fortran.hpp"
#include "report.hpp"
#include "settings.hpp"
#include "steadfold/operations.hpp"
#include "trace.hpp"
#include "wrappers.hpp"

namespace steadfold::interpose {
namespace {

const steadfold_interpose_shim* given_shim = nullptr;

struct Settings {
  Arithmetic arithmetic;
  bool is_reported = false;
  std::string report;  // name of the report's file; empty: standard error
  bool is_diagnosed = false;
  int callers = 0;    // number of callers that a place names
  std::string fault;  // the error in the settings as "problem (why), suggestion", or empty
};

Settings read_settings() {
  Settings read{.fault = fault_of_settings()};
  read.report = setting("STEADFOLD_INTERPOSE_REPORT");
  read.is_reported = !read.report.empty();
  if (read.report == "1") read.report.clear();
  read.is_diagnosed = setting("STEADFOLD_INTERPOSE_DIAGNOSE") == "1";
  // A diagnosis needs a report, because the report shows the differences.
  if (read.is_diagnosed) read.is_reported = true;
  if (is_compared() && is_recorded())
    read.fault =
        "a run cannot be recorded and compared (STEADFOLD_INTERPOSE_RECORD and STEADFOLD_INTERPOSE_COMPARE are both "
        "set), set only one of them";
  const std::string method = setting("STEADFOLD_INTERPOSE_METHOD");
  for (const detail::NamedMethod& each : detail::named_methods)
    if (each.name == method) read.arithmetic.sums = each.method;
  read.arithmetic.has_ieee_extremes = setting("STEADFOLD_INTERPOSE_EXTREMES") == "ieee";
  read.callers = std::atoi(setting("STEADFOLD_INTERPOSE_CALLERS").c_str());
  return read;
}

/// Returns the settings. The settings are never destroyed, because destructors of a program's static objects may
/// finalise MPI.
const Settings& settings() {
  static const Settings& read = *new Settings(read_settings());
  return read;
}

}  // namespace

const steadfold_interpose_shim& shim() noexcept { return *given_shim; }

const Arithmetic& arithmetic() { return settings().arithmetic; }

const char* name_of(steadfold_interpose_index function) noexcept { return shim().names[function]; }

namespace {

/// This process as a rank of MPI_COMM_WORLD, from MPI_Init until MPI_Finalize, MPI_Abort or the interposer ends MPI.
struct Process {
  bool is_running = false;
  int rank = 0;
  int size = 1;
  pid_t id = 0;  // a child made by fork is no rank
};
Process process;

/// Returns a report's file; empty for standard error.
std::string report_file() { return is_spawned() ? "" : settings().report; }

void write_own_report(const std::string& file) {
  write_report(shim(), settings().arithmetic.sums, process.rank, process.size, file);
  note_outcome(Outcome::reported);
}

/// Writes the report, if this rank has one, and the differences of a process that ends before MPI_Finalize. Makes no
/// call of MPI.
void end_early(const std::string& how, bool has_report) {
  process.is_running = false;
  if (settings().is_reported && has_report) {
    const std::string file = report_file();
    say("rank " + std::to_string(process.rank) + " " + how + "; its report until then " +
        (file.empty() ? "follows" : "is in " + file));
    write_own_report(file);
  }
  end_trace_alone();
}

[[gnu::destructor]] void before_end_of_process() {
  if (!process.is_running || process.id != getpid()) return;
  std::signal(SIGTERM, SIG_IGN);  // a launcher sends it when the first rank has ended in this way
  end_early("ends without MPI_Finalize", process.rank == 0);
}

/// The call that this thread is in, for the error handler below; null outside.
thread_local const Call* current_call = nullptr;

/// Names the program's call before the MPI library names the function that the interposer has called.
void name_call(MPI_Comm* comm, int* code, ...) {  // NOLINT(cert-dcl50-cpp): MPI's signature
  if (current_call != nullptr) {
    const Call& call = *current_call;
    std::array<char, MPI_MAX_ERROR_STRING> why{};
    int length = 0, kind = 0;
    PMPI_Error_class(*code, &kind);  // MPICH's text of the code itself has a stack of MPICH's functions
    PMPI_Error_string(kind, why.data(), &length);
    const std::string place = places_of({call.place.addresses}).front();
    std::fprintf(stderr,
                 "steadfold: rank %d: %s of %lld elements of %zu bytes with %s%s%s failed (%s). The functions that the "
                 "MPI library names are called by the interposer. If the ranks have different arguments, steadfold run "
                 "--diagnose names the ranks\n",
                 process.rank, name_of(call.place.function), static_cast<long long>(call.input_count()),
                 call.elements.bytes(), name_of(call.elements.op()), place.empty() ? "" : " in ", place.c_str(),
                 why.data());
  }
  PMPI_Comm_set_errhandler(*comm, MPI_ERRORS_ARE_FATAL);
  PMPI_Comm_call_errhandler(*comm, *code);
}

MPI_Errhandler naming() {
  static const MPI_Errhandler made = [] {
    MPI_Errhandler fresh = MPI_ERRHANDLER_NULL;
    PMPI_Comm_create_errhandler(name_call, &fresh);
    return fresh;
  }();
  return made;
}

}  // namespace

InCall::InCall(const Call& call) : comm_(call.comm) {
  MPI_Errhandler before = MPI_ERRHANDLER_NULL;
  PMPI_Comm_get_errhandler(comm_, &before);
  is_set_ = before == MPI_ERRORS_ARE_FATAL;
  if (before != MPI_ERRORS_ARE_FATAL && before != MPI_ERRORS_RETURN) PMPI_Errhandler_free(&before);
  if (!is_set_) return;
  PMPI_Comm_set_errhandler(comm_, naming());
  current_call = &call;
}

InCall::~InCall() {
  if (!is_set_) return;
  PMPI_Comm_set_errhandler(comm_, MPI_ERRORS_ARE_FATAL);
  current_call = nullptr;
}

[[noreturn]] void end_program(MPI_Comm comm, const std::string& why) {
  process.is_running = false;
  std::fprintf(stderr, "steadfold: %s\n", why.c_str());
  // MPICH's launcher loses output that it has not read by then.
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  PMPI_Abort(comm, 1);
  std::abort();  // reached if MPI_Abort returns
}

// --- Init and Finalize ---

void compare_settings() {
  is_spawned();
  int rank = 0, size = 1;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  PMPI_Comm_size(MPI_COMM_WORLD, &size);
  process = {.is_running = true, .rank = rank, .size = size, .id = getpid()};
  // Settings that make ranks communicate must be the same on all ranks.
  const int method = 8 * static_cast<int>(settings().arithmetic.sums) +
                     (settings().arithmetic.has_ieee_extremes ? 4 : 0) + (is_compared() ? 2 : 0) +
                     (settings().is_diagnosed ? 1 : 0);
  unsigned hash = 0;
  for (const char* c = STEADFOLD_VERSION; *c != '\0'; ++c) hash = hash * 31 + static_cast<unsigned char>(*c);
  const int version = static_cast<int>(hash & 0xFFFFFF);
  std::string fault = settings().fault;
  if (fault.empty() && rank == 0) fault = fault_of_report(report_file());
  if (fault.empty()) fault = open_trace();
  const std::array<int, 5> mine = {method, -method, version, -version, fault.empty() ? size : rank};
  std::array<int, 5> least{};
  PMPI_Allreduce(mine.data(), least.data(), static_cast<int>(mine.size()), MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  const bool are_alike = least[0] == -least[1] && least[2] == -least[3];
  if (are_alike && least[4] == size) return;
  drop_trace();
  PMPI_Barrier(MPI_COMM_WORLD);  // no rank may end the other ranks before these have removed their traces
  if (least[4] == rank) end_program(MPI_COMM_WORLD, fault);
  if (!are_alike && least[4] == size && rank == 0)
    end_program(MPI_COMM_WORLD,
                "the ranks have different settings or releases of Steadfold (STEADFOLD_INTERPOSE_METHOD, _EXTREMES, "
                "_DIAGNOSE, _COMPARE, LD_PRELOAD), give all ranks the same environment");
  PMPI_Barrier(MPI_COMM_WORLD);  // waits until another rank ends this rank
}

void before_finalize() {
  process.is_running = false;
  const bool is_running = communicator_of(MPI_COMM_SELF).treatment != Treatment::outside;
  if (is_running && settings().is_reported) {
    if (process.rank == 0 && !settings().report.empty() && is_spawned())
      std::fprintf(stderr,
                   "steadfold: no report is written of spawned processes (the processes that spawned them write %s)\n",
                   settings().report.c_str());
    else if (process.rank == 0)
      write_own_report(settings().report);
    if (const int unfinished = unfinished_requests(); unfinished > 0)
      std::fprintf(
          stderr,
          "steadfold: started reductions of rank %d have no result: %d (no call has completed their requests), "
          "complete every request before MPI_Finalize\n",
          process.rank, unfinished);
  }
  if (is_running) end_trace();
  note_end();
}

void before_abort() {
  if (process.is_running) end_early("calls MPI_Abort", true);
}

// --- reductions ---

int as_int(MPI_Count count, MPI_Comm comm) {
  constexpr MPI_Count most = std::numeric_limits<int>::max();
  if (count > most)
    end_program(comm, "a count of " + std::to_string(count) +
                          " (this MPI library has no functions with large counts), reduce the elements in parts");
  return static_cast<int>(count);
}

std::size_t ranks_of(MPI_Comm comm) {
  const Communicator known = communicator_of(comm);
  return known.treatment == Treatment::refused || known.treatment == Treatment::outside
             ? 0
             : static_cast<std::size_t>(known.size);
}

Treatment treatment_of(const Call& call, const Communicator& comm) {
  const Elements& elements = call.elements;
  if (comm.treatment != Treatment::outside && elements.treatment() == Treatment::order_free)
    return elements.treatment();
  if (is_passed_on(comm.treatment)) return comm.treatment;
  const bool is_scattered = call.collective == Collective::reduce_scatter;
  if (call.count < 0 || std::ranges::any_of(call.counts, [](MPI_Count count) { return count < 0; }))
    return Treatment::refused;
  if (is_passed_on(elements.treatment())) return elements.treatment();
  if (elements.bytes() == 0) return Treatment::no_elements;
  if (is_scattered ? std::ranges::all_of(call.counts, [](MPI_Count count) { return count == 0; }) : call.count == 0)
    return Treatment::no_elements;
  if (call.collective == Collective::reduce && (call.root < 0 || call.root >= comm.size)) return Treatment::refused;
  return fits(elements, comm) ? elements.treatment() : Treatment::too_large;
}

struct Watch::Seen {
  const Call& call;
  const Communicator& comm;
  Treatment treatment;
  bool is_traced;  // whether this Watch traces the call; a started reduction is traced when it has ended
  CallName name{};
  std::uint64_t input = 0;
  std::unique_ptr<Diagnosis> diagnosis = nullptr;
  double begin = 0;
};

bool is_watching() noexcept {
  static const bool is = settings().is_reported || is_traced() || !settings().fault.empty();
  return is;
}

Place place_of(const Origin& origin) {
  return {origin.index, is_watching() ? addresses_of(shim().caller(), settings().callers) : Addresses{}};
}

Watch::Watch(const Call& call, const Communicator& comm, Treatment treatment, When when) {
  const bool is_handled = !is_passed_on(treatment);
  if (is_handled && !settings().fault.empty()) end_program(comm.handle, settings().fault);
  // On an intercommunicator, some ranks contribute nothing.
  const bool has_rows = comm.calls != nullptr && comm.treatment != Treatment::across &&
                        treatment != Treatment::refused && treatment != Treatment::no_elements;
  // A started call that is handled is traced when it has ended. The result of a started call that is passed on is
  // unknown.
  seen_ = std::make_unique<Seen>(call, comm, treatment, has_rows && is_traced() && when == When::now);
  if (seen_->is_traced) {
    seen_->name = comm.next_call();
    seen_->input = input_digest(call);
  } else if (has_rows && is_traced() && !is_handled && when == When::at_the_end) {
    trace(comm.next_call(), input_digest(call), 0, call);
  }
  const bool is_diagnosed = settings().is_diagnosed && is_handled && when == When::now;
  if (is_diagnosed) require_equal_calls(call, comm);
  if (is_diagnosed && is_diagnosable(call)) seen_->diagnosis = std::make_unique<Diagnosis>(call, comm);
  seen_->begin = PMPI_Wtime();
}

Watch::~Watch() = default;

void Watch::end(int code) {
  const double seconds = settings().is_reported ? PMPI_Wtime() - seen_->begin : 0;
  if (code != MPI_SUCCESS) return;
  if (seen_->is_traced) trace(seen_->name, seen_->input, result_digest(seen_->call, seen_->comm), seen_->call);
  if (settings().is_reported)
    note(seen_->call, seen_->treatment, seconds, seen_->diagnosis ? seen_->diagnosis->difference() : Difference{});
}

int handle(Call& call, const Communicator& comm, MPI_Request* request) {
  auto reduction = std::make_unique<Started>(std::move(call), comm);
  reduction->contribute();
  const int code = reduction->start(request);
  if (code == MPI_SUCCESS) enter_request(*request, std::move(reduction), Requested::once);
  return code;
}

int handle(Call& call, const Communicator& comm, MPI_Info info, MPI_Request* request) {
  auto reduction = std::make_unique<Started>(std::move(call), comm);
  const int code = reduction->prepare(info, request);
  if (code == MPI_SUCCESS) enter_request(*request, std::move(reduction), Requested::persistently);
  return code;
}

namespace {

// --- requests ---

template <class... Rest>
int end_one(const Origin& origin, MPI_Request* request, Rest... /*rest*/) {
  return end_requests(origin, 1, Requests{request});
}
template <class... Rest>
int end_some(const Origin& origin, int count, MPI_Request* requests, Rest... /*rest*/) {
  return end_requests(origin, count, Requests{requests});
}
int request_get_status(const Origin& origin, MPI_Request request, int* /*flag*/, MPI_Status* /*status*/) {
  return look_at_status(origin, request);
}
int request_free(const Origin& origin, MPI_Request* request) { return free_request(origin, Requests{request}); }
int start(const Origin& origin, MPI_Request* request) { return start_all(origin, 1, Requests{request}); }
int startall(const Origin& origin, int count, MPI_Request* requests) {
  return start_all(origin, count, Requests{requests});
}
int op_free(const Origin& origin, MPI_Op* op) {
  if (!is_freed_later(*op)) return origin.pass_on();
  *op = MPI_OP_NULL;
  return MPI_SUCCESS;
}

// --- the table of wrappers ---

/// Calls `wrapper` with the arguments of the function that the program calls.
template <steadfold_interpose_index index, auto wrapper>
struct Bound;
template <steadfold_interpose_index index, class... Arguments, int (*wrapper)(const Origin&, Arguments...)>
struct Bound<index, wrapper> {
  static int call(Arguments... arguments) { return enter(wrapper, index, arguments...); }
};

template <steadfold_interpose_index index, auto wrapper>
void set(Wrappers& all) {
  all[index] = reinterpret_cast<steadfold_interpose_function>(Bound<index, wrapper>::call);
}

Wrappers wrappers() {
  Wrappers all{};
  set<MPI_Init_index, init<int*, char***>>(all);
  set<MPI_Init_thread_index, init<int*, char***, int, int*>>(all);
  set<MPI_Finalize_index, finalize>(all);
  set<MPI_Abort_index, abort_job<MPI_Comm, int>>(all);
  set_group<Bound, MPI_Allreduce_index, int>(all);
  set_group<Bound, MPI_Allreduce_c_index, MPI_Count>(all);
  set_group<Bound, MPI_Iallreduce_index, int, MPI_Request*>(all);
  set_group<Bound, MPI_Iallreduce_c_index, MPI_Count, MPI_Request*>(all);
  set_group<Bound, MPI_Allreduce_init_index, int, MPI_Info, MPI_Request*>(all);
  set_group<Bound, MPI_Allreduce_init_c_index, MPI_Count, MPI_Info, MPI_Request*>(all);
  set_group<Bound, MPIX_Allreduce_init_index, int, MPI_Info, MPI_Request*>(all);
  set<MPI_Wait_index, end_one<MPI_Status*>>(all);
  set<MPI_Waitall_index, end_some<MPI_Status*>>(all);
  set<MPI_Waitany_index, end_some<int*, MPI_Status*>>(all);
  set<MPI_Waitsome_index, end_some<int*, int*, MPI_Status*>>(all);
  set<MPI_Test_index, end_one<int*, MPI_Status*>>(all);
  set<MPI_Testall_index, end_some<int*, MPI_Status*>>(all);
  set<MPI_Testany_index, end_some<int*, int*, MPI_Status*>>(all);
  set<MPI_Testsome_index, end_some<int*, int*, MPI_Status*>>(all);
  set<MPI_Request_get_status_index, request_get_status>(all);
  set<MPI_Request_free_index, request_free>(all);
  set<MPI_Start_index, start>(all);
  set<MPI_Startall_index, startall>(all);
  set<MPI_Op_free_index, op_free>(all);
  set_fortran(all);
  return all;
}

}  // namespace
}  // namespace steadfold::interpose

extern "C" const steadfold_interpose_function* steadfold_interpose_layer(const steadfold_interpose_shim* shim) {
  namespace interpose = steadfold::interpose;
  if (std::strcmp(shim->version, STEADFOLD_VERSION) != 0) return nullptr;
  interpose::given_shim = shim;
  static const auto all = interpose::wrappers();
  return all.data();
}
