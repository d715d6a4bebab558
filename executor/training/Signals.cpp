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

static constexpr std::array<int, 3> kWatched = {SIGINT, SIGTERM, SIGHUP};

static int watches = 0; ///< that live

SignalWatch::SignalWatch() {
  if (watches++ > 0)
    return;
  pendingSignal = 0;
  struct sigaction action{};
  action.sa_handler = onSignal;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  for (size_t i = 0; i < kWatched.size(); ++i) {
    ::sigaction(kWatched[i], &action, &before_[i]);
    if (kWatched[i] == SIGHUP && before_[i].sa_handler == SIG_IGN)
      ::sigaction(SIGHUP, &before_[i], nullptr);
  }
}

SignalWatch::~SignalWatch() {
  if (--watches > 0)
    return;
  for (size_t i = 0; i < kWatched.size(); ++i)
    ::sigaction(kWatched[i], &before_[i], nullptr);
}

int SignalWatch::pending() { return pendingSignal; }

} // namespace lstmc::training
