#include "executor/training/Signals.h"

#include <atomic>

#include <unistd.h>

#include "executor/base/OutputFile.h"

namespace lstmc::training {

static std::atomic<int> pendingSignal = 0;

extern "C" {
static void onSignal(int signal) {
  if (pendingSignal.exchange(signal) == 0)
    return;
  removeTemporaryFiles();
  ::_exit(128 + signal);
}
}

SignalWatch::SignalWatch() {
  pendingSignal = 0;
  struct sigaction action{};
  action.sa_handler = onSignal;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  ::sigaction(SIGINT, &action, &interrupt_);
  ::sigaction(SIGTERM, &action, &terminate_);
}

SignalWatch::~SignalWatch() {
  ::sigaction(SIGINT, &interrupt_, nullptr);
  ::sigaction(SIGTERM, &terminate_, nullptr);
}

int SignalWatch::pending() { return pendingSignal; }

} // namespace lstmc::training
