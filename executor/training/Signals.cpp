#include "executor/training/Signals.h"

#include <array>
#include <atomic>
#include <csignal>
#include <mutex>
#include <utility>

#include <unistd.h>

#include "executor/base/OutputFile.h"
#include "executor/training/EndOnSignals.h"
#include "executor/training/Interrupts.h"

namespace lstmc::training {

static constexpr std::array<int, 5> kWatched = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1};

static std::atomic<int> pendingSignal = 0;
static std::atomic<bool> interruptsPass = false;
static std::atomic<void (*)(int)> interruptHandler = nullptr; ///< of before; null: there is none

// Threads may watch at the same time, each to another end.
static std::mutex mutex;
static int watches = 0;                                      ///< that live
static std::array<struct sigaction, kWatched.size()> before; ///< what was in force

extern "C" {
static void onSignal(int signal) {
  int none = 0;
  if (pendingSignal.compare_exchange_strong(none, signal))
    return;
  if (signal == SIGINT && interruptsPass) {
    if (auto *handler = interruptHandler.load())
      handler(signal);
    return;
  }
  removeTemporaryFiles();
  ::_exit(128 + signal);
}

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

static bool isFunction(const struct sigaction &action) {
  return !(action.sa_flags & SA_SIGINFO) && action.sa_handler != SIG_DFL &&
         action.sa_handler != SIG_IGN;
}

static void beginWatch(bool passing) {
  std::lock_guard lock(mutex);
  if (watches++ > 0)
    return;
  pendingSignal = 0;
  struct sigaction action{};
  action.sa_handler = onSignal;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  ::sigaction(SIGINT, nullptr, &before[0]);
  interruptsPass = passing;
  interruptHandler = isFunction(before[0]) ? before[0].sa_handler : nullptr;
  for (size_t i = 0; i < kWatched.size(); ++i) {
    ::sigaction(kWatched[i], &action, &before[i]);
    if (staysWith(before[i], kWatched[i]))
      ::sigaction(kWatched[i], &before[i], nullptr);
  }
}

/// The signal that came until then, or 0. A process that lives on forgets it.
static int endWatch() {
  std::lock_guard lock(mutex);
  if (--watches > 0)
    return pendingSignal;
  for (size_t i = 0; i < kWatched.size(); ++i)
    ::sigaction(kWatched[i], &before[i], nullptr);
  return interruptsPass ? pendingSignal.exchange(0) : pendingSignal.load();
}

SignalWatch::SignalWatch() { beginWatch(false); }
SignalWatch::~SignalWatch() { (void)endWatch(); }
int SignalWatch::pending() { return pendingSignal; }

Interrupts::Interrupts() { beginWatch(true); }
Interrupts::~Interrupts() { (void)end(); }

int Interrupts::end() { return std::exchange(ended_, true) ? pendingSignal.load() : endWatch(); }

bool Interrupts::watched() {
  std::lock_guard lock(mutex);
  return watches > 0;
}

bool Interrupts::pending() { return interruptsPass && pendingSignal == SIGINT; }

} // namespace lstmc::training
