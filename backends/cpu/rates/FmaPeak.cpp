// Multiply-adds on registers only: the peak arithmetic rate of a level.
#include "backends/cpu/rates/FmaPeak.h"
#include "backends/cpu/runtime/Vector.h"

namespace lstmc::cpu::LSTMC_CPU_NAMESPACE {

float spinMultiplyAdds(int64_t rounds) {
  Vector sums[kPeakChains], factor = Vector::broadcast(0.5f);
  for (int i = 0; i < kPeakChains; ++i)
    sums[i] = Vector::broadcast(float(i)); // all different, so that the compiler does not merge
                                           // them
  for (int64_t i = 0; i < rounds; ++i)
#pragma unroll
    for (Vector &sum : sums)
      sum = fma(sum, factor, factor);
  float lanes[kWidth], total = 0;
  for (Vector &sum : sums) {
    sum.store(lanes);
    total += lanes[0];
  }
  return total;
}

} // namespace lstmc::cpu::LSTMC_CPU_NAMESPACE
