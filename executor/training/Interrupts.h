// Signals in a process that outlives interrupts.
#pragma once

namespace lstmc::training {

/// As SignalWatch, but that a second SIGINT goes to the handler of before, and does not end the
/// process: an interpreter's. A SignalWatch within one leaves that so.
class Interrupts {
public:
  Interrupts();
  ~Interrupts();
  Interrupts(const Interrupts &) = delete;
  Interrupts &operator=(const Interrupts &) = delete;

  /// Ends it before its end. The signal that came until then, or 0.
  int end();

  /// Whether signals are watched, by any thread.
  static bool watched();
  /// Whether an interrupt came that is not to end the process.
  static bool pending();

private:
  bool ended_ = false;
};

} // namespace lstmc::training
