#include "frontend/cli/SignalsForRanks.h"

#include <atomic>

namespace lstmc::cli {

static std::atomic<int> askedTimes = 0, askedSignal = 0;

extern "C" {
static void ask(int signal) {
  askedSignal = signal;
  ++askedTimes;
}
}

SignalsForRanks::SignalsForRanks() {
  struct sigaction action{};
  action.sa_handler = ask;
  sigemptyset(&action.sa_mask);
  for (size_t i = 0; i < std::size(kSignals); ++i) {
    ::sigaction(kSignals[i], &action, &before_[i]);
    if (before_[i].sa_handler == SIG_IGN)
      ::sigaction(kSignals[i], &before_[i], nullptr);
  }
}

SignalsForRanks::~SignalsForRanks() {
  for (size_t i = 0; i < std::size(kSignals); ++i)
    ::sigaction(kSignals[i], &before_[i], nullptr);
}

std::pair<int, int> SignalsForRanks::asked() { return {askedTimes, askedSignal}; }

} // namespace lstmc::cli
