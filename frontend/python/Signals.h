// Signals while something runs without the GIL.
#pragma once

#include <optional>

#include "executor/training/Interrupts.h"
#include "executor/training/Signals.h"

namespace lstmc::python {

/// Whether this thread is in the loop of a training, which watches signals by itself.
bool &inTraining();

/// While it lives in Python's main thread, ctrl-C is remembered, and a run that does not end soon
/// is ended. A second ctrl-C goes to Python, so that it reaches a callback, and never ends the
/// process. In any other thread it does nothing: Python delivers signals to its main thread alone.
class Interruptible {
public:
  explicit Interruptible(bool mainThread) {
    if (mainThread && !inTraining())
      watch_.emplace();
  }
  /// Whether a signal came that this watch is to see.
  bool came() const { return watch_ && training::SignalWatch::pending() != 0; }
  /// Ends the watch. The signal that came, or 0.
  int end() { return watch_ ? watch_->end() : 0; }

private:
  std::optional<training::Interrupts> watch_;
};

/// KeyboardInterrupt for SIGINT; another signal is delivered once more, to who handles it. Where
/// other threads still work, which are to end too, KeyboardInterrupt for any. Holds the GIL.
void raiseSignal(int signal);

} // namespace lstmc::python
