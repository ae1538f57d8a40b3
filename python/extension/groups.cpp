#include "groups.hpp"

#include <dlfcn.h>

#include <nanobind/stl/tuple.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <optional>
#include <string>
#include <tuple>

namespace steadfold::python {
namespace {

using GroupOf = sf_status (*)(std::int32_t comm, sf_group** group);
using AskedMpi = int (*)(int* flag);
using TeamOver = sf_status (*)(std::int32_t comm, std::int32_t workers, sf_team** team);

// Two functions of the loaded MPI layer, sf_group_of_fortran and sf_team_create_over_fortran. These functions take the
// Fortran handles of communicators, which are integers with every MPI library.
GroupOf layer_group_of = nullptr;
TeamOver layer_team_over = nullptr;
AskedMpi mpi_initialized = nullptr, mpi_finalized = nullptr;  // functions of the MPI library

[[noreturn]] void fail_to_load(const std::string& text) {
  PyErr_SetString(PyExc_ImportError, text.c_str());
  raise();
}

std::string last_dl_error() {
  const char* const text = dlerror();
  return text == nullptr ? "no reason was given" : text;
}

/// Returns the MPI library that a loaded extension module uses: its version text, its file, and whether the module
/// calls the library through the MPI standard's binary interface, whose handles differ from the handles of Open MPI and
/// MPICH. Its symbols become visible to libraries that are loaded later; no other MPI library is ever loaded.
std::tuple<std::string, std::string, bool> mpi_library_of(const std::string& module) {
  void* const handle = dlopen(module.c_str(), RTLD_NOW | RTLD_NOLOAD);
  if (handle == nullptr) fail_to_load(module + " is not loaded (" + last_dl_error() + "), import mpi4py.MPI first");
  void* const symbol = dlsym(handle, "MPI_Get_library_version");
  Dl_info place{};
  if (symbol == nullptr || dladdr(symbol, &place) == 0 || place.dli_fname == nullptr)
    fail_to_load("mpi4py's MPI library cannot be found (" + module +
                 " is not linked with a shared MPI library), use a build of mpi4py that is");
  int major = -1, minor = -1;  // -1 if the library is not called through the standard's interface (MPI 5)
  if (void* const asked = dlsym(handle, "MPI_Abi_get_version"); asked != nullptr)
    reinterpret_cast<int (*)(int*, int*)>(asked)(&major, &minor);
  if (dlopen(place.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_GLOBAL) == nullptr) fail_to_load(last_dl_error());
  mpi_initialized = reinterpret_cast<AskedMpi>(dlsym(handle, "MPI_Initialized"));
  mpi_finalized = reinterpret_cast<AskedMpi>(dlsym(handle, "MPI_Finalized"));
  char version[8192] = {};
  int length = 0;
  reinterpret_cast<int (*)(char*, int*)>(symbol)(version, &length);
  return {std::string(version, static_cast<std::size_t>(length)), place.dli_fname, major >= 1};
}

/// Loads an MPI layer. The layer uses the MPI functions of the library that mpi_library_of found.
void load_layer(const std::string& file) {
  void* const layer = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (layer == nullptr) fail_to_load(last_dl_error());
  layer_team_over = reinterpret_cast<TeamOver>(dlsym(layer, "sf_team_create_over_fortran"));
  layer_group_of = reinterpret_cast<GroupOf>(dlsym(layer, "sf_group_of_fortran"));
  if (layer_group_of == nullptr || layer_team_over == nullptr) fail_to_load(file + " is not an MPI layer of Steadfold");
}

/// Returns mpi4py's class of communicators. The result is null if the program has not imported mpi4py: then no object
/// is a communicator, and importing mpi4py here would initialise MPI.
PyObject* communicator_class() {
  static PyObject* found = nullptr;  // never released, because an extension module stays loaded
  if (found != nullptr) return found;
  const nb::object module = nb::steal<nb::object>(PyImport_GetModule(nb::str("mpi4py.MPI").ptr()));
  if (module.is_valid()) found = nb::object(nb::getattr(module, "Comm", nb::handle())).release().ptr();
  PyErr_Clear();
  return found;
}

/// Throws TypeError for any object that is not a communicator of mpi4py. Other MPI objects have integer handles in
/// Fortran, too, and some are equal to handles of communicators.
void require_communicator(nb::handle comm) {
  PyObject* const communicators = communicator_class();
  const int is_one = communicators == nullptr ? 0 : PyObject_IsInstance(comm.ptr(), communicators);
  if (is_one < 0) raise();
  if (is_one == 0)
    refuse_type(
        "comm is %R (a communicator of mpi4py, or a member of a steadfold.Team such as team[0], is needed), give one "
        "of these, or None for this process alone",
        comm.ptr());
}

/// Returns the Fortran handle of a communicator of mpi4py. The first call loads the layer.
std::int32_t number_of(nb::handle comm) {
  require_communicator(comm);
  if (layer_group_of == nullptr) nb::module_::import_("steadfold._mpi").attr("bind")();
  int is_initialized = 1, is_finalized = 0;
  if (mpi_initialized != nullptr) mpi_initialized(&is_initialized);
  if (mpi_finalized != nullptr) mpi_finalized(&is_finalized);
  if (is_initialized == 0) refuse("no reduction over MPI (MPI is not initialised), call MPI.Init before the reduction");
  if (is_finalized != 0) refuse("no reduction over MPI (MPI is finalised), reduce before MPI.Finalize");
  return nb::cast<std::int32_t>(comm.attr("py2f")());
}

class Team {
 public:
  /// Makes a team. `timeout` has the seconds that a call may wait for other workers; empty: without limit. Collective
  /// over `comm`.
  Team(nb::handle workers, nb::handle comm, nb::handle timeout) {
    if (nb::isinstance<Group>(comm))
      refuse_type("comm of a team is %R (a team spans the ranks of a communicator), give a communicator of mpi4py",
                  comm.ptr());
    const bool is_alone = comm.is_none();
    const std::int32_t over = is_alone ? 0 : number_of(comm);
    std::int32_t count = 0;
    std::optional<double> seconds;
    try {
      count = number<std::int32_t>(workers, "workers");
      seconds = seconds_of(timeout, "timeout");
      if (seconds && !(*seconds >= 0))
        refuse("a timeout of %R seconds (a timeout is at least 0), give 0 for no limit", timeout.ptr());
    } catch (...) {
      if (!is_alone) static_cast<void>(create_over(over, 0));  // makes the call fail on the other ranks, too
      throw;
    }
    check(is_alone ? sf_team_create(count, &team_) : create_over(over, count));
    if (seconds) check(sf_team_set_timeout(team_, nanoseconds_of(seconds)));
  }
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;
  ~Team() {
    without_lock([&] {
      sf_team_free(team_);
      return SF_OK;
    });
  }

  [[nodiscard]] std::int32_t size() const { return sf_team_size(team_); }
  [[nodiscard]] sf_group* member(nb::handle worker) const {
    const Py_ssize_t place = PyNumber_AsSsize_t(worker.ptr(), PyExc_IndexError);
    if (place == -1 && PyErr_Occurred() != nullptr) raise();
    if (place < 0 || place >= size()) {
      PyErr_Format(PyExc_IndexError,
                   "worker %zd does not exist (the number of workers of the team is %d), count workers from 0", place,
                   static_cast<int>(size()));
      raise();
    }
    sf_group* group = nullptr;
    check(sf_team_group(team_, static_cast<std::int32_t>(place), &group));
    return group;
  }
  void bind(nb::handle worker) const { check(sf_team_bind(team_, number<std::int32_t>(worker, "worker"))); }

 private:
  sf_status create_over(std::int32_t comm, std::int32_t workers) {
    return without_lock([&] { return layer_team_over(comm, workers, &team_); });
  }

  sf_team* team_ = nullptr;
};

/// Called while calls wait: returns whether a signal handler has raised an exception, as for Ctrl-C. Python runs
/// handlers only on its main thread, which is nearly always the main thread of the process; other threads need not take
/// the lock.
int raised_by_signal() {
  if (syscall(SYS_gettid) != getpid() || Py_IsInitialized() == 0) return 0;
  const Lock lock;
  return PyErr_CheckSignals() != 0 ? 1 : 0;
}

void barrier(const Group& group) {
  sf_group* const handle = group.handle();
  check(without_lock([&] { return sf_group_barrier(handle); }));
}

/// Ends the progress thread without Python's lock, since that thread may need the lock and ends before this function
/// returns.
void progress_thread(const Group& group, nb::handle on) {
  sf_group* const handle = group.handle();
  const int wanted = flag(on) ? 1 : 0;
  check(without_lock([&] { return sf_group_progress_thread(handle, wanted); }));
}

}  // namespace

sf_group* Group::handle() const { return member == nullptr ? group_of(owner) : member; }

sf_group* group_of(nb::handle comm) {
  if (comm.is_none()) return nullptr;
  if (nb::isinstance<Group>(comm)) return held_by<Group>(comm).handle();
  const std::int32_t number = number_of(comm);
  sf_group* group = nullptr;
  check(without_lock([&] { return layer_group_of(number, &group); }));  // the first call waits for all ranks
  return group;
}

void add_groups(nb::module_& module) {
  sf_set_interrupt(&raised_by_signal);
  nb::class_<Group>(module, "Group",
                    "The group of ranks of a communicator of mpi4py, or of a member of a team. `rank` is this rank's "
                    "number, `size` is the number of ranks, and `transport` names the way in which bytes move between "
                    "the ranks: \"mpi\", \"shared\" (memory shared by all "
                    "ranks), \"shared+mpi\" or \"rma\".\n\n"
                    ">>> import steadfold as sf\n"
                    ">>> group = sf.Group(sf.Team(1)[0])  # or of a communicator of mpi4py\n"
                    ">>> group.rank, group.size\n"
                    "(0, 1)")
      .def(
          "__init__",
          [](Group* self, nb::object comm) {
            if (group_of(comm) == nullptr) refuse_type("comm is None (a group needs ranks), give a communicator");
            new (self) Group{nullptr, std::move(comm)};
          },
          nb::arg("comm").none())
      .def_prop_ro("rank", [](const Group& self) { return sf_group_rank(self.handle()); })
      .def_prop_ro("size", [](const Group& self) { return sf_group_size(self.handle()); })
      .def_prop_ro("transport", [](const Group& self) { return sf_group_transport(self.handle()); })
      .def("barrier", &barrier, "Waits until every rank has made the call.")
      .def("progress_thread", &progress_thread, nb::arg("on"),
           "Starts (or, if `on` is false, ends) a thread that advances the started calls of the group while the "
           "program computes. Raises `UnsupportedError` unless MPI was initialised with MPI.THREAD_MULTIPLE.")
      .def("__repr__", [](const Group& self) {
        return "<steadfold.Group: rank " + std::to_string(sf_group_rank(self.handle())) + " of " +
               std::to_string(sf_group_size(self.handle())) + " over " + sf_group_transport(self.handle()) + ">";
      });
  nb::class_<Team>(
      module, "Team",
      "A team of `workers` threads that reduce with each other, as the ranks of a communicator do. Worker w calls on "
      "its own thread and gives ``team[w]`` as `comm`. The first call waits until every worker has made a call. If "
      "`comm` is given, the workers of all ranks of `comm` form one team. `timeout`: the number of seconds that a call "
      "may wait for "
      "other workers of this process; a call that waits longer raises `TransportError`, and the team cannot be used "
      "any more.\n\n"
      ">>> import steadfold as sf\n"
      ">>> from concurrent.futures import ThreadPoolExecutor\n"
      ">>> team = sf.Team(2)\n"
      ">>> with ThreadPoolExecutor(2) as threads:\n"
      "...     list(map(float, threads.map(lambda w: sf.sum([w + 1.0], comm=team[w]), range(2))))\n"
      "[3.0, 3.0]")
      .def(nb::init<nb::handle, nb::handle, nb::handle>(), nb::arg("workers").none(),
           nb::arg("comm").none() = nb::none(), nb::arg("timeout").none() = nb::none())
      .def("__len__", &Team::size)
      .def(
          "__getitem__",
          [](nb::handle self, nb::handle worker) {
            return Group{held_by<Team>(self).member(worker), nb::borrow<nb::object>(self)};
          },
          nb::arg("worker").none())
      .def("bind", &Team::bind, nb::arg("worker").none(),
           "Binds the calling thread to the core of the worker; neighbouring workers get neighbouring cores. Bind "
           "before the worker's first call. Does nothing if STEADFOLD_BIND=off is in the environment.")
      .def("__repr__",
           [](const Team& self) { return "<steadfold.Team of " + std::to_string(self.size()) + " workers>"; });
  module.def("mpi_library_of", &mpi_library_of);
  module.def("load_layer", &load_layer);
}

}  // namespace steadfold::python
