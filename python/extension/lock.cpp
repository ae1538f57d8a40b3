#include "lock.hpp"

namespace steadfold::python {

[[gnu::noinline]] void take_again(PyThreadState* given_up) {
  NoUnwinding guard;
  PyEval_RestoreThread(given_up);
  guard.done();
}

[[gnu::noinline]] PyGILState_STATE take_lock() {
  NoUnwinding guard;
  const PyGILState_STATE state = PyGILState_Ensure();
  guard.done();
  return state;
}

}  // namespace steadfold::python
