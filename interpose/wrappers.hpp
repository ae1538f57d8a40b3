// The part of the wrappers of MPI's functions that C and Fortran share. Both languages pass an `Origin`, which
// describes the caller. The wrappers rely on MPI's rule that count, type and operator are the same on all ranks, so
// calls need no agreement.
#pragma once

#include <mpi.h>

#include <array>
#include <exception>
#include <limits>
#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "communicator.hpp"
#include "functions.h"
#include "movement.hpp"
#include "requests.hpp"
#include "rows.hpp"
#include "started.hpp"

namespace steadfold::interpose {

/// The function that a program called, and a way to pass the call on unchanged.
struct Origin {
  steadfold_interpose_index index;
  int (*passed_on)(steadfold_interpose_index, const void*);  // passes the call on to the MPI library
  const void* arguments;

  int pass_on() const { return passed_on(index, arguments); }
};

/// The wrappers, one entry per function.
using Wrappers = std::array<steadfold_interpose_function, steadfold_interpose_count>;

const steadfold_interpose_shim& shim() noexcept;
/// Returns the user's choice.
const Arithmetic& arithmetic();
[[noreturn]] void end_program(MPI_Comm comm, const std::string& why);

template <class Function>
Function library_function(steadfold_interpose_index index) {
  return reinterpret_cast<Function>(shim().of_library[index]);
}

/// Calls `wrapper` for a program in C.
template <class... Arguments>
int enter(int (*wrapper)(const Origin&, Arguments...), steadfold_interpose_index index,
          std::type_identity_t<Arguments>... arguments) {
  const std::tuple<Arguments...> all(arguments...);
  const auto passed_on = [](steadfold_interpose_index behind, const void* given) {
    return std::apply(library_function<int (*)(Arguments...)>(behind),
                      *static_cast<const std::tuple<Arguments...>*>(given));
  };
  return wrapper(Origin{index, passed_on, &all}, arguments...);
}

/// Runs `body`. Ends the program if `body` throws Fault.
template <class Body>
int guarded(const Origin& origin, MPI_Comm comm, const Body& body) {
  try {
    return body();
  } catch (const std::exception& fault) {
    end_program(comm, std::string(shim().names[origin.index]) + ": " + fault.what());
  }
}

// --- Init and Finalize ---

/// Checks that all ranks have the same settings. Calls need no further check.
void compare_settings();
void before_finalize();
/// Writes the report of this process, which ends before MPI_Finalize.
void before_abort();

template <class... Arguments>
int init(const Origin& origin, Arguments... /*arguments*/) {
  const int code = origin.pass_on();
  if (code == MPI_SUCCESS) compare_settings();
  return code;
}

inline int finalize(const Origin& origin) {
  before_finalize();
  return origin.pass_on();
}

template <class... Arguments>
int abort_job(const Origin& origin, Arguments... /*arguments*/) {
  before_abort();
  return origin.pass_on();
}

// --- reductions ---

/// Whether the MPI library lacks the called function with large counts. If so, its counterpart with int counts is
/// called.
template <class Count>
bool is_missing(const Origin& origin) {
  return !std::is_same_v<Count, int> && shim().of_library[origin.index] == nullptr;
}
inline steadfold_interpose_index with_ints(const Origin& origin) {
  return static_cast<steadfold_interpose_index>(int{origin.index} - int{steadfold_interpose_group});
}
int as_int(MPI_Count count, MPI_Comm comm);

/// Returns how a call is handled; the result is the same on all ranks.
Treatment treatment_of(const Call& call, const Communicator& comm);

/// When the result of a call is complete.
enum class When { now, at_the_end, each_time_it_is_started };

/// Observes a call for the report, the diagnosis and the trace, if they are asked for. Ends the program if the settings
/// are wrong and no Init has reported it.
class Watch {
 public:
  Watch(const Call& call, const Communicator& comm, Treatment treatment, When when);
  ~Watch();
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;
  /// Ends the observation. Called when the MPI call has returned.
  void end(int code);

 private:
  struct Seen;
  std::unique_ptr<Seen> seen_;
};
/// Whether any observation is asked for.
bool is_watching() noexcept;

/// While the object lives, an error that would end the program names the program's call. For observed calls, because it
/// takes 0.1 us. The call must outlive the object.
class InCall {
 public:
  explicit InCall(const Call& call);
  ~InCall();
  InCall(const InCall&) = delete;
  InCall& operator=(const InCall&) = delete;

 private:
  MPI_Comm comm_;
  bool is_set_ = false;
};

/// Executes a call, or starts it if `rest` is given: (MPI_Request*), or for persistent requests (MPI_Info,
/// MPI_Request*).
inline int handle(const Call& call, const Communicator& comm) { return carry_out(call, comm); }
int handle(Call& call, const Communicator& comm, MPI_Request* request);
int handle(Call& call, const Communicator& comm, MPI_Info info, MPI_Request* request);

template <class... Rest>
int reduce_or_pass_on(const Origin& origin, Call& call, Rest... rest) {
  if (is_passed_on(call.elements.treatment()) && !is_watching()) return origin.pass_on();
  const Communicator comm = communicator_of(call.comm);
  constexpr When when = std::array{When::now, When::at_the_end, When::each_time_it_is_started}[sizeof...(Rest)];
  Treatment treatment = treatment_of(call, comm);
  if (when != When::now && !is_passed_on(treatment) && !may_start(call, comm)) treatment = Treatment::too_large;
  const auto carried_out = [&] { return is_passed_on(treatment) ? origin.pass_on() : handle(call, comm, rest...); };
  return guarded(origin, call.comm, [&] {
    if (!is_watching()) return carried_out();
    const Call watched = call;  // NOLINT(performance-unnecessary-copy-initialization): a started call is moved away
    Watch watch(watched, comm, treatment, when);
    const int code = [&] {
      if (is_passed_on(treatment)) return origin.pass_on();
      const InCall in_call(watched);
      return handle(call, comm, rest...);
    }();
    watch.end(code);
    return code;
  });
}

/// Returns the place of the call that this thread is in.
Place place_of(const Origin& origin);

/// Wraps Allreduce, Scan and Exscan.
template <Collective collective, class Count, class... Rest>
int reduce_to_all(const Origin& origin, const void* from, void* to, Count count, MPI_Datatype type, MPI_Op op,
                  MPI_Comm comm, Rest... rest) {
  if (is_missing<Count>(origin))
    return enter(reduce_to_all<collective, int, Rest...>, with_ints(origin), from, to, as_int(count, comm), type, op,
                 comm, rest...);
  Call call{collective, place_of(origin), Elements(type, op, arithmetic()), comm, from, to, count};
  return reduce_or_pass_on(origin, call, rest...);
}

template <class Count, class... Rest>
int reduce(const Origin& origin, const void* from, void* to, Count count, MPI_Datatype type, MPI_Op op, int root,
           MPI_Comm comm, Rest... rest) {
  if (is_missing<Count>(origin))
    return enter(reduce<int, Rest...>, with_ints(origin), from, to, as_int(count, comm), type, op, root, comm, rest...);
  Call call{Collective::reduce, place_of(origin), Elements(type, op, arithmetic()), comm, from, to, count, root};
  return reduce_or_pass_on(origin, call, rest...);
}

/// Returns the number of ranks; 0 if the MPI library will refuse the communicator, or MPI is not running.
std::size_t ranks_of(MPI_Comm comm);

/// Wraps Reduce_scatter. `counts` has an entry for each rank.
template <class Count, class... Rest>
int reduce_scatter(const Origin& origin, const void* from, void* to, const Count* counts, MPI_Datatype type, MPI_Op op,
                   MPI_Comm comm, Rest... rest) {
  const std::size_t ranks = ranks_of(comm);
  if (is_missing<Count>(origin)) {
    std::vector<int> ints;
    for (std::size_t r = 0; r < ranks; ++r) ints.push_back(as_int(counts[r], comm));
    return enter(reduce_scatter<int, Rest...>, with_ints(origin), from, to, ints.data(), type, op, comm, rest...);
  }
  Call call{Collective::reduce_scatter, place_of(origin), Elements(type, op, arithmetic()), comm, from, to, 0, 0,
            {counts, counts + ranks}};
  return reduce_or_pass_on(origin, call, rest...);
}

template <class Count, class... Rest>
int reduce_scatter_block(const Origin& origin, const void* from, void* to, Count count, MPI_Datatype type, MPI_Op op,
                         MPI_Comm comm, Rest... rest) {
  if (is_missing<Count>(origin))
    return enter(reduce_scatter_block<int, Rest...>, with_ints(origin), from, to, as_int(count, comm), type, op, comm,
                 rest...);
  Call call{Collective::reduce_scatter,
            place_of(origin),
            Elements(type, op, arithmetic()),
            comm,
            from,
            to,
            0,
            0,
            std::vector<MPI_Count>(ranks_of(comm), count)};
  return reduce_or_pass_on(origin, call, rest...);
}

/// Sets the wrappers of a group of six, in the order of functions.h. `Rest` are their last arguments. Programs call
/// `Bound<index, wrapper>::call`.
template <template <steadfold_interpose_index, auto> class Bound, int first, class Count, class... Rest>
void set_group(Wrappers& all) {
  const auto set = [&](int i, auto function) {
    all[static_cast<std::size_t>(first + i)] = reinterpret_cast<steadfold_interpose_function>(function);
  };
  constexpr auto index = [](int i) { return static_cast<steadfold_interpose_index>(first + i); };
  set(0, Bound<index(0), reduce_to_all<Collective::allreduce, Count, Rest...>>::call);
  set(1, Bound<index(1), reduce<Count, Rest...>>::call);
  set(2, Bound<index(2), reduce_scatter<Count, Rest...>>::call);
  set(3, Bound<index(3), reduce_scatter_block<Count, Rest...>>::call);
  set(4, Bound<index(4), reduce_to_all<Collective::scan, Count, Rest...>>::call);
  set(5, Bound<index(5), reduce_to_all<Collective::exscan, Count, Rest...>>::call);
}

// --- requests ---

/// The program's array of requests. `get(i)` returns request i.
struct Requests {
  MPI_Request* first;
  MPI_Request get(int i) const { return first[i]; }
};

/// Wraps a call that may end some of `count` requests. The MPI library sets ended requests to MPI_REQUEST_NULL. Ended
/// persistent requests stay with the program, so the library is asked about them. The outputs of the call itself are
/// not used, because some libraries set them wrongly.
template <class Array>
int end_requests(const Origin& origin, int count, Array requests) {
  if (!has_requests() || count <= 0) return origin.pass_on();
  return guarded(origin, MPI_COMM_WORLD, [&] {
    Ending all(count);
    for (int i = 0; i < count; ++i) all.take(i, requests.get(i));
    const int code = origin.pass_on();
    for (int i = 0; i < count; ++i)
      code == MPI_SUCCESS ? all.settle(i, requests.get(i)) : all.settle_failed(i, requests.get(i));
    return code;
  });
}

/// Wraps MPI_Request_free of `requests.get(0)`, which the MPI library may refuse.
template <class Array>
int free_request(const Origin& origin, Array requests) {
  if (!has_requests()) return origin.pass_on();
  return guarded(origin, MPI_COMM_WORLD, [&] {
    Ending freed(1);
    freed.take(0, requests.get(0));
    const int code = origin.pass_on();
    if (code == MPI_SUCCESS) freed.give_up(0);
    return code;
  });
}

template <class Array>
int start_all(const Origin& origin, int count, Array requests) {
  return guarded(origin, MPI_COMM_WORLD, [&] {
    for (int i = 0; i < count; ++i) start_request(requests.get(i));
    return origin.pass_on();
  });
}

/// Wraps MPI_Request_get_status, which ends no request.
inline int look_at_status(const Origin& origin, MPI_Request request) {
  return guarded(origin, MPI_COMM_WORLD, [&] {
    const int code = origin.pass_on();
    if (code == MPI_SUCCESS && has_requests()) look_at_request(request);
    return code;
  });
}

}  // namespace steadfold::interpose
