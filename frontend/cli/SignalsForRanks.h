// Signals of a process that has started ranks.
#pragma once

#include <csignal>
#include <iterator>
#include <utility>

namespace lstmc::cli {

/// While it lives, SIGINT, SIGTERM, SIGHUP, SIGQUIT and SIGUSR1 are for the ranks: they are
/// counted, and this process goes on.
class SignalsForRanks {
public:
  SignalsForRanks();
  ~SignalsForRanks();
  SignalsForRanks(const SignalsForRanks &) = delete;
  SignalsForRanks &operator=(const SignalsForRanks &) = delete;

  /// How many have come, and which was the last.
  static std::pair<int, int> asked();

private:
  static constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1};
  struct sigaction before_[std::size(kSignals)];
};

} // namespace lstmc::cli
