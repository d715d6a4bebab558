#include "executor/training/Signals.h"

#include <array>
#include <atomic>
#include <csignal>

#include <unistd.h>

#include "executor/base/OutputFile.h"
#include "executor/training/EndOnSignals.h"

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

static constexpr std::array<int, 5> kWatched = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1};

extern "C" {
static void end(int signal) {
  removeTemporaryFiles();
  ::_exit(128 + signal);
}
}

void endOnSignals() {
  for (int signal : kWatched)
    if (std::signal(signal, end) == SIG_IGN && signal != SIGINT && signal != SIGTERM)
      std::signal(signal, SIG_IGN);
}

/// Whether whoever handled it before goes on doing so.
static bool staysWith(const struct sigaction &before, int signal) {
  switch (signal) {
  case SIGHUP: // nohup: the work is to outlive the terminal
    return before.sa_handler == SIG_IGN;
  case SIGQUIT:
  case SIGUSR1:
    return before.sa_handler != SIG_DFL && before.sa_handler != end;
  default:
    return false;
  }
}

static int watches = 0;                                      ///< that live
static std::array<struct sigaction, kWatched.size()> before; ///< what was in force

SignalWatch::SignalWatch() {
  if (watches++ > 0)
    return;
  pendingSignal = 0;
  struct sigaction action{};
  action.sa_handler = onSignal;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  for (size_t i = 0; i < kWatched.size(); ++i) {
    ::sigaction(kWatched[i], &action, &before[i]);
    if (staysWith(before[i], kWatched[i]))
      ::sigaction(kWatched[i], &before[i], nullptr);
  }
}

SignalWatch::~SignalWatch() {
  if (--watches > 0)
    return;
  for (size_t i = 0; i < kWatched.size(); ++i)
    ::sigaction(kWatched[i], &before[i], nullptr);
}

int SignalWatch::pending() { return pendingSignal; }

} // namespace lstmc::training
