#include "fortran.hpp"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <mutex>

#ifdef STEADFOLD_MPI_ABI  // for C only: with the standard ABI, all Fortran functions call C's functions
void steadfold::interpose::set_fortran(Wrappers& /*all*/) {}
#else

namespace steadfold::interpose {
namespace fortran {
namespace {

/// Calls `body` with an Origin that has Fortran's arguments. `error` may be null: it is optional in the module mpi_f08.
template <class Body, class... Given>
void enter_fortran(steadfold_interpose_index index, MPI_Fint* error, const Body& body, Given... given) {
  const std::tuple<Given...> all(given...);
  const auto passed_on = [](steadfold_interpose_index behind, const void* arguments) {
    MPI_Fint code = MPI_SUCCESS;
    const auto call = [&](Given... each) { library_function<void (*)(Given..., MPI_Fint*)>(behind)(each..., &code); };
    std::apply(call, *static_cast<const std::tuple<Given...>*>(arguments));
    return static_cast<int>(code);
  };
  const int code = body(Origin{index, passed_on, &all});
  if (error != nullptr) *error = code;
}

/// Makes a function whose wrapper, `wrapper(origin, given...)`, takes Fortran's arguments.
template <steadfold_interpose_index index, auto wrapper>
struct Other;
template <steadfold_interpose_index index, class... Given, int (*wrapper)(const Origin&, Given...)>
struct Other<index, wrapper> {
  static void call(Given... given, MPI_Fint* error) {
    enter_fortran(
        index, error, [&](const Origin& origin) { return wrapper(origin, given...); }, given...);
  }
};

#ifdef OPEN_MPI
// --- reductions ---

/// The addresses that stand for MPI_IN_PLACE and MPI_BOTTOM in Fortran: common blocks, by each compiler's spelling of
/// their names. A shared object loaded with local scope, such as a Python module, may have separate copies. The program
/// may load more objects at any time.
class BufferNames {
 public:
  /// Returns the buffer that a C call takes in place of `given`.
  void* in_c(void* given) {
    const std::lock_guard held(lock_);
    unsigned long long loaded = 0;  // number of objects loaded so far, which the loader reports with the first object
    dl_iterate_phdr(
        [](dl_phdr_info* info, std::size_t /*size*/, void* count) {
          *static_cast<unsigned long long*>(count) = info->dlpi_adds;
          return 1;
        },
        &loaded);
    if (loaded != loaded_) look_again();
    loaded_ = loaded;
    const auto found = std::ranges::find(names_, given, &Name::in_fortran);
    return found == names_.end() ? given : found->in_c;
  }

 private:
  struct Name {
    void* in_fortran;
    void* in_c;
  };

  void look_again() {
    // The file names are collected first, because the loader is locked while it lists objects.
    std::vector<std::string> files;
    dl_iterate_phdr(
        [](dl_phdr_info* info, std::size_t /*size*/, void* all) {
          static_cast<std::vector<std::string>*>(all)->emplace_back(info->dlpi_name);
          return 0;
        },
        &files);
    names_.clear();
    for (const std::string& file : files) {
      void* const handle = dlopen(file.empty() ? nullptr : file.c_str(), RTLD_LAZY | RTLD_NOLOAD);
      if (handle == nullptr) continue;
      for (const char* const name :
           {"mpi_fortran_in_place", "mpi_fortran_in_place_", "mpi_fortran_in_place__", "MPI_FORTRAN_IN_PLACE"})
        if (void* const place = dlsym(handle, name)) names_.push_back({place, MPI_IN_PLACE});
      for (const char* const name :
           {"mpi_fortran_bottom", "mpi_fortran_bottom_", "mpi_fortran_bottom__", "MPI_FORTRAN_BOTTOM"})
        if (void* const place = dlsym(handle, name)) names_.push_back({place, MPI_BOTTOM});
      dlclose(handle);
    }
  }

  std::mutex lock_;
  unsigned long long loaded_ = 0;
  std::vector<Name> names_;
};

void* buffer(void* given) {
  static BufferNames& names = *new BufferNames;  // never destroyed, because programs may call MPI until they end
  return names.in_c(given);
}

/// The request that a wrapper makes. If the call is passed on, Fortran's function makes the request.
class Made {
 public:
  explicit Made(MPI_Fint* place) noexcept : place_(place) {}
  ~Made() {
    if (made_ != MPI_REQUEST_NULL) *place_ = PMPI_Request_c2f(made_);
  }
  Made(const Made&) = delete;
  Made& operator=(const Made&) = delete;
  operator MPI_Request*() noexcept { return &made_; }

 private:
  MPI_Fint* place_;
  MPI_Request made_ = MPI_REQUEST_NULL;
};

/// Converts an argument of a reduction from Fortran to C.
template <class InC>
struct Argument;
struct Buffer {
  using Given = void*;
  static void* in_c(void* given) { return buffer(given); }
};
template <>
struct Argument<const void*> : Buffer {};
template <>
struct Argument<void*> : Buffer {};
template <>
struct Argument<int> {
  using Given = const MPI_Fint*;
  static int in_c(Given given) { return *given; }
};
template <>
struct Argument<const int*> {
  using Given = const MPI_Fint*;
  static const int* in_c(Given given) { return given; }
};
template <auto f2c>
struct Handle {
  using Given = const MPI_Fint*;
  static auto in_c(Given given) { return f2c(*given); }
};
template <>
struct Argument<MPI_Datatype> : Handle<PMPI_Type_f2c> {};
template <>
struct Argument<MPI_Op> : Handle<PMPI_Op_f2c> {};
template <>
struct Argument<MPI_Comm> : Handle<PMPI_Comm_f2c> {};
template <>
struct Argument<MPI_Info> : Handle<PMPI_Info_f2c> {};
template <>
struct Argument<MPI_Request*> {
  using Given = MPI_Fint*;
  static Made in_c(Given given) { return Made(given); }
};

/// Wraps a reduction with Fortran's arguments.
template <steadfold_interpose_index index, auto wrapper>
struct Reduction;
template <steadfold_interpose_index index, class... InC, int (*wrapper)(const Origin&, InC...)>
struct Reduction<index, wrapper> {
  static void call(typename Argument<InC>::Given... given, MPI_Fint* error) {
    enter_fortran(
        index, error, [&](const Origin& origin) { return wrapper(origin, Argument<InC>::in_c(given)...); }, given...);
  }
};

#endif

// --- requests ---

struct FortranRequests {
  const MPI_Fint* first;
  MPI_Request get(int i) const { return PMPI_Request_f2c(first[i]); }
};

template <class... Rest>
int end_one(const Origin& origin, MPI_Fint* request, Rest... /*rest*/) {
  return end_requests(origin, 1, FortranRequests{request});
}
template <class... Rest>
int end_some(const Origin& origin, MPI_Fint* count, MPI_Fint* requests, Rest... /*rest*/) {
  return end_requests(origin, *count, FortranRequests{requests});
}
int request_get_status(const Origin& origin, MPI_Fint* request, void* /*flag*/, void* /*status*/) {
  return look_at_status(origin, PMPI_Request_f2c(*request));
}
int request_free(const Origin& origin, MPI_Fint* request) { return free_request(origin, FortranRequests{request}); }
int start(const Origin& origin, MPI_Fint* request) { return start_all(origin, 1, FortranRequests{request}); }
int startall(const Origin& origin, MPI_Fint* count, MPI_Fint* requests) {
  return start_all(origin, *count, FortranRequests{requests});
}
int op_free(const Origin& origin, MPI_Fint* op) {
  if (!is_freed_later(PMPI_Op_f2c(*op))) return origin.pass_on();
  *op = PMPI_Op_c2f(MPI_OP_NULL);
  return MPI_SUCCESS;
}

// --- the table of wrappers ---

template <steadfold_interpose_index index, auto wrapper>
void set(Wrappers& all) {
  all[index] = reinterpret_cast<steadfold_interpose_function>(Other<index, wrapper>::call);
}

/// Sets the wrappers of all functions except reductions, from index mpi_init_index or mpi_init_f08_index on.
template <int first>
void set_others(Wrappers& all) {
  constexpr auto like = [](int i) { return static_cast<steadfold_interpose_index>(i - mpi_init_index + first); };
  set<like(mpi_init_index), init<>>(all);
  set<like(mpi_init_thread_index), init<MPI_Fint*, MPI_Fint*>>(all);
  set<like(mpi_finalize_index), finalize>(all);
  set<like(mpi_abort_index), abort_job<MPI_Fint*, MPI_Fint*>>(all);
  set<like(mpi_wait_index), end_one<void*>>(all);
  set<like(mpi_waitall_index), end_some<void*>>(all);
  set<like(mpi_waitany_index), end_some<void*, void*>>(all);
  set<like(mpi_waitsome_index), end_some<void*, void*, void*>>(all);
  set<like(mpi_test_index), end_one<void*, void*>>(all);
  set<like(mpi_testall_index), end_some<void*, void*>>(all);
  set<like(mpi_testany_index), end_some<void*, void*, void*>>(all);
  set<like(mpi_testsome_index), end_some<void*, void*, void*>>(all);
  set<like(mpi_request_get_status_index), request_get_status>(all);
  set<like(mpi_request_free_index), request_free>(all);
  set<like(mpi_start_index), start>(all);
  set<like(mpi_startall_index), startall>(all);
  set<like(mpi_op_free_index), op_free>(all);
}

#ifdef OPEN_MPI
template <int first>
void set_reductions(Wrappers& all) {
  constexpr auto like = [](int i) { return i - mpi_init_index + first; };
  set_group<Reduction, like(mpi_allreduce_index), int>(all);
  set_group<Reduction, like(mpi_iallreduce_index), int, MPI_Request*>(all);
  set_group<Reduction, like(mpi_allreduce_init_index), int, MPI_Info, MPI_Request*>(all);
  set_group<Reduction, like(mpix_allreduce_init_index), int, MPI_Info, MPI_Request*>(all);
}
#endif

}  // namespace
}  // namespace fortran

void set_fortran(Wrappers& all) {
  fortran::set_others<mpi_init_f08_index>(all);
#ifdef OPEN_MPI
  fortran::set_others<mpi_init_index>(all);
  fortran::set_reductions<mpi_init_index>(all);
  fortran::set_reductions<mpi_init_f08_index>(all);
#endif
}

}  // namespace steadfold::interpose

#endif
