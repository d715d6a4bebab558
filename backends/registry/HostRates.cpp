#include "backends/registry/HostRates.h"

#include "backends/cpu/rates/Rates.h"

namespace lstmc {

double hostMultiplyAddRate(int threads) {
  ThreadTeam team(threads);
  return cpu::multiplyAddRate(team);
}

double hostStreamRate(int threads) {
  constexpr size_t kBytes = size_t(256) << 20;
  return cpu::streamRate(kBytes, threads);
}

} // namespace lstmc
