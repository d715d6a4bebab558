// Signals that ask for an end, while there is something to keep.
#pragma once

namespace lstmc::training {

/// While it lives, the first SIGINT, SIGTERM, SIGHUP, SIGQUIT or SIGUSR1 (which batch systems send
/// before a job's time is over) is remembered and the second ends the process at once with 128 +
/// signal, output files in the making removed. SIGHUP stays ignored where it is, as under nohup;
/// SIGQUIT and SIGUSR1 stay ignored too, and with a program that handles them itself. One within
/// another does nothing, so that a signal which comes between or after two pieces of work is
/// remembered too.
class SignalWatch {
public:
  SignalWatch();
  ~SignalWatch();
  SignalWatch(const SignalWatch &) = delete;
  SignalWatch &operator=(const SignalWatch &) = delete;

  /// The signal that came, or 0.
  static int pending();
  /// 128 + that signal, or 0.
  static int exitCode() { return pending() == 0 ? 0 : 128 + pending(); }
};

} // namespace lstmc::training
