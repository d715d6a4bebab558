#include "backends/cpu/rates/Rates.h"

#include <algorithm>
#include <chrono>

#include "backends/cpu/rates/FmaPeak.h"
#include "backends/cpu/runtime/Level.h"

namespace lstmc::cpu {

double multiplyAddRate(ThreadTeam &team) {
  constexpr int64_t kRounds = 2'000'000;
  const Level level = chosenLevel();
  auto spin = level == Level::Avx512 ? avx512::spinMultiplyAdds
              : level == Level::Avx2 ? avx2::spinMultiplyAdds
                                     : scalar::spinMultiplyAdds;
  const double lanes = level == Level::Avx512 ? 16 : level == Level::Avx2 ? 8 : 1;
  double best = 1e9;
  volatile float sink = 0;
  for (int i = 0; i < 10; ++i) {
    auto begin = std::chrono::steady_clock::now();
    team.run([&](Worker &) {
      float kept = spin(kRounds);
      if (kept < 0)
        sink = kept;
    });
    best = std::min(
        best, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }
  return 2 * lanes * kPeakChains * double(kRounds) * team.count() / best;
}

} // namespace lstmc::cpu
