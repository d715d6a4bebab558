#include "frontend/python/Signals.h"

#include <csignal>

#include <nanobind/nanobind.h>

namespace lstmc::python {

std::mutex &signalMutex() {
  static std::mutex mutex;
  return mutex;
}

int Interruptible::end() {
  int signal = watch_ ? training::SignalWatch::pending() : 0;
  watch_.reset();
  return signal;
}

void raiseSignal(int signal) {
  if (signal == 0)
    return;
  if (signal != SIGINT) {
    std::raise(signal);
    return;
  }
  PyErr_SetNone(PyExc_KeyboardInterrupt);
  throw nanobind::python_error();
}

} // namespace lstmc::python
