#include "frontend/python/Signals.h"

#include <csignal>

#include <nanobind/nanobind.h>

namespace lstmc::python {

bool &inTraining() {
  static thread_local bool here = false;
  return here;
}

void raiseSignal(int signal) {
  if (signal == 0)
    return;
  if (signal != SIGINT && !training::Interrupts::watched()) {
    std::raise(signal);
    return;
  }
  // A second ctrl-C has left one with Python: it is the same.
  if (PyErr_CheckSignals() == 0)
    PyErr_SetNone(PyExc_KeyboardInterrupt);
  throw nanobind::python_error();
}

} // namespace lstmc::python
