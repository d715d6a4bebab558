// SIGINT and SIGTERM while training.
#pragma once

#include <csignal>

namespace lstmc::training {

/// While it lives, the first SIGINT or SIGTERM is remembered and the second ends the process at
/// once with 128 + signal, output files in the making removed. One at a time.
class SignalWatch {
public:
  SignalWatch();
  ~SignalWatch();
  SignalWatch(const SignalWatch &) = delete;
  SignalWatch &operator=(const SignalWatch &) = delete;

  /// The signal that came, or 0.
  static int pending();

private:
  struct sigaction interrupt_, terminate_; ///< what was in force before
};

} // namespace lstmc::training
