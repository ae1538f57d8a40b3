// Python's lock, taken where the interpreter may end meanwhile.
//
// Before Python 3.14, an interpreter that ends stops every other thread that asks for its lock, by pthread_exit. That
// unwinds the thread's stack, and ends the program with an error at the first function of C++ that no exception may
// leave. Here such a thread sleeps until the process ends, as all do since Python 3.14.
#pragma once

#include <unistd.h>

#include "numpy.hpp"

namespace steadfold::python {

/// Guards a call of Python that takes the lock: the thread sleeps where the call does not come to `done`.
class NoUnwinding {
 public:
  NoUnwinding() = default;
  ~NoUnwinding() {
    while (!is_done_) pause();
  }
  NoUnwinding(const NoUnwinding&) = delete;
  NoUnwinding& operator=(const NoUnwinding&) = delete;
  void done() noexcept { is_done_ = true; }

 private:
  bool is_done_ = false;
};

/// What a callable of Python returns. It may give up the lock and take it again.
template <class... Arguments>
nb::object called(nb::handle callable, const Arguments&... arguments) {
  NoUnwinding guard;
  PyObject* const result = PyObject_CallFunctionObjArgs(callable.ptr(), arguments.ptr()..., nullptr);
  guard.done();
  return take(result);
}

/// What a function of the module steadfold._convert returns.
template <class... Arguments>
nb::object converted(const char* function, const Arguments&... arguments) {
  return called(nb::module_::import_("steadfold._convert").attr(function), arguments...);
}

/// Functions of their own, since a destructor must not be unwound at all.
void take_again(PyThreadState* given_up);
PyGILState_STATE take_lock();

/// Other threads may run Python for as long as this lives.
class WithoutLock {
 public:
  WithoutLock() : own_(PyEval_SaveThread()) {}
  ~WithoutLock() { take_again(own_); }
  WithoutLock(const WithoutLock&) = delete;
  WithoutLock& operator=(const WithoutLock&) = delete;

 private:
  PyThreadState* own_;
};

/// Has the lock for as long as it lives, on any thread.
class Lock {
 public:
  Lock() : state_(take_lock()) {}
  ~Lock() { PyGILState_Release(state_); }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

 private:
  PyGILState_STATE state_;
};

/// Calls the library without Python's lock: it may wait for others, or for a thread of its own that wants the lock.
template <class Make>
auto without_lock(const Make& make) {
  const WithoutLock others_may_run;
  return make();
}

}  // namespace steadfold::python
