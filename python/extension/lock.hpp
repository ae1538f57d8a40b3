// Python's global lock, acquired safely while the interpreter may be ending.
//
// Before Python 3.14, an interpreter that ends stops every other thread that asks for the lock, by pthread_exit. That
// unwinds the thread's stack, and ends the program with an error at the first C++ function that no exception may leave.
// Here the thread sleeps until the process ends, as all threads do since Python 3.14.
#pragma once

#include <unistd.h>

#include "numpy.hpp"

namespace steadfold::python {

/// Guards a call of Python that takes the lock: if the call does not reach `done`, the thread sleeps.
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

/// Calls a Python callable and returns its result. The callable may release the lock and acquire it again.
template <class... Arguments>
nb::object called(nb::handle callable, const Arguments&... arguments) {
  NoUnwinding guard;
  PyObject* const result = PyObject_CallFunctionObjArgs(callable.ptr(), arguments.ptr()..., nullptr);
  guard.done();
  return take(result);
}

/// Calls a function of the module steadfold._convert and returns its result.
template <class... Arguments>
nb::object converted(const char* function, const Arguments&... arguments) {
  return called(nb::module_::import_("steadfold._convert").attr(function), arguments...);
}

/// Acquire the lock. They are separate functions, because a destructor must never be unwound.
void take_again(PyThreadState* given_up);
PyGILState_STATE take_lock();

/// Lets other threads run Python as long as the object exists.
class WithoutLock {
 public:
  WithoutLock() : own_(PyEval_SaveThread()) {}
  ~WithoutLock() { take_again(own_); }
  WithoutLock(const WithoutLock&) = delete;
  WithoutLock& operator=(const WithoutLock&) = delete;

 private:
  PyThreadState* own_;
};

/// Holds the lock as long as the object exists, on any thread.
class Lock {
 public:
  Lock() : state_(take_lock()) {}
  ~Lock() { PyGILState_Release(state_); }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

 private:
  PyGILState_STATE state_;
};

/// Calls the library without Python's lock, since the library may wait for other ranks, or for one of its threads that
/// needs the lock.
template <class Make>
auto without_lock(const Make& make) {
  const WithoutLock others_may_run;
  return make();
}

}  // namespace steadfold::python
