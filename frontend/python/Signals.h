// Signals while something runs without the GIL.
#pragma once

#include <mutex>
#include <optional>

#include "executor/training/Signals.h"

namespace lstmc::python {

/// One watch at a time in a process: held by who watches signals, here or in the loop of a
/// training.
std::mutex &signalMutex();

/// While it lives in Python's main thread, ctrl-C is remembered, and a run that does not end soon
/// is ended. In any other thread, or beside another watch, it does nothing: Python delivers signals
/// to its main thread alone.
class Interruptible {
public:
  explicit Interruptible(bool mainThread) : lock_(signalMutex(), std::defer_lock) {
    if (mainThread && lock_.try_lock())
      watch_.emplace();
  }
  /// Ends the watch. The signal that came, or 0.
  int end();

private:
  std::unique_lock<std::mutex> lock_;
  std::optional<training::SignalWatch> watch_;
};

/// KeyboardInterrupt for SIGINT; another signal is delivered once more, to who handles it. Holds
/// the GIL.
void raiseSignal(int signal);

} // namespace lstmc::python
