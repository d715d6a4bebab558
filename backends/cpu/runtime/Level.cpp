#include "backends/cpu/runtime/Level.h"

#include <algorithm>
#include <cstdlib>

namespace lstmc::cpu {

Level machineLevel() {
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl"))
    return Level::Avx512;
  return __builtin_cpu_supports("avx2") ? Level::Avx2 : Level::Scalar;
}

Level chosenLevel() {
  static const Level kChosen = [] {
    Level level = machineLevel();
    const char *name = std::getenv("LSTMC_CPU_LEVEL");
    for (int i = 0; name && i < kLevels; ++i)
      if (kLevelNames[i] == name)
        level = std::min(level, Level(i));
    return level;
  }();
  return kChosen;
}

} // namespace lstmc::cpu
