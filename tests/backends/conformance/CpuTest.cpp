// The cpu target at every level that this machine supports.
#include <gtest/gtest.h>

#include "backends/conformance/Conformance.h"
#include "backends/cpu/runtime/KernelTable.h"

namespace lstmc::conformance {

template <cpu::Level level> static Target cpuTarget() {
  return hostTarget(
      std::string("cpu ") + std::string(cpu::kLevelNames[int(level)]),
      [](KernelId id, std::span<const Tensor> operands) {
        return cpu::kernelTable(level).find(id, operands);
      },
      "backends/cpu/unsupported.txt");
}

#define LSTMC_CPU_CONFORMANCE(SUITE, LEVEL)                                                        \
  class SUITE : public testing::TestWithParam<KernelId> {};                                        \
  TEST_P(SUITE, GivesTheBitsOfTheReference) {                                                      \
    if (cpu::machineLevel() < LEVEL)                                                               \
      GTEST_SKIP() << "this machine has no " << cpu::kLevelNames[int(LEVEL)];                      \
    conform(cpuTarget<LEVEL>(), GetParam());                                                       \
  }                                                                                                \
  INSTANTIATE_TEST_SUITE_P(Kernels, SUITE, testing::ValuesIn(allKernels()),                        \
                           [](const testing::TestParamInfo<KernelId> &info) {                      \
                             return std::string(kernelRecord(info.param).name);                    \
                           })

LSTMC_CPU_CONFORMANCE(CpuScalar, cpu::Level::Scalar);
LSTMC_CPU_CONFORMANCE(CpuAvx2, cpu::Level::Avx2);
LSTMC_CPU_CONFORMANCE(CpuAvx512, cpu::Level::Avx512);

} // namespace lstmc::conformance
