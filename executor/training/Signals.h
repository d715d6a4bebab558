// Signals that ask for an end, while there is something to keep.
#pragma once

#include <array>
#include <csignal>

namespace lstmc::training {

/// While it lives, the first SIGINT, SIGTERM or SIGHUP is remembered and the second ends the
/// process at once with 128 + signal, output files in the making removed. SIGHUP stays ignored
/// where it is, as under nohup. One within another does nothing, so that a signal which comes
/// between or after two pieces of work is remembered too.
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

private:
  std::array<struct sigaction, 3> before_; ///< what was in force
};

} // namespace lstmc::training
