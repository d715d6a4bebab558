// The GIL released and taken, also by threads that the end of the interpreter overtakes.
#pragma once

#include <cxxabi.h>
#include <unistd.h>

#include <nanobind/nanobind.h>

namespace lstmc::python {

/// Calls `work`, which takes the GIL or runs Python. Once the interpreter ends, Python ends a
/// daemon thread that does so by pthread_exit(), which would unwind our frames without the GIL.
/// Such a thread stays here instead, until the process is gone.
template <typename Work> decltype(auto) stayAtExit(Work work) {
  try {
    return work();
  } catch (abi::__forced_unwind &) {
    for (;;)
      ::pause();
  }
}

class GilReleased {
public:
  GilReleased() : state_(PyEval_SaveThread()) {}
  ~GilReleased() {
    stayAtExit([&] { PyEval_RestoreThread(state_); });
  }
  GilReleased(const GilReleased &) = delete;
  GilReleased &operator=(const GilReleased &) = delete;

private:
  PyThreadState *state_;
};

class GilHeld {
public:
  GilHeld() : state_(stayAtExit([] { return PyGILState_Ensure(); })) {}
  ~GilHeld() { PyGILState_Release(state_); }
  GilHeld(const GilHeld &) = delete;
  GilHeld &operator=(const GilHeld &) = delete;

private:
  PyGILState_STATE state_;
};

} // namespace lstmc::python
