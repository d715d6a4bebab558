// libnvidia-ml.so.1 of the cards of EmulatedCuda.cpp: 18 NVLinks join the first two, the others are
// in another part of the machine.
#include <cstdint>
#include <cstdio>

#include "backends/cuda/runtime/Nvml.h"

using namespace lstmc::cuda;

namespace {
/// A card's handle is its number and 1.
intptr_t numberOf(NvmlCard card) { return reinterpret_cast<intptr_t>(card) - 1; }
bool areJoined(NvmlCard a, NvmlCard b) { return numberOf(a) < 2 && numberOf(b) < 2; }
} // namespace

#pragma GCC visibility push(default)
extern "C" {

NvmlResult nvmlInit_v2() { return 0; }
NvmlResult nvmlSystemGetDriverVersion(char *version, unsigned length) {
  std::snprintf(version, length, "580.65.06");
  return 0;
}
NvmlResult nvmlDeviceGetHandleByPciBusId_v2(const char *bus, NvmlCard *card) {
  unsigned number = 0;
  if (std::sscanf(bus, "0000:%x:00.0", &number) != 1)
    return 2;
  *card = reinterpret_cast<NvmlCard>(intptr_t(number) + 1);
  return 0;
}
NvmlResult nvmlDeviceGetMemoryInfo(NvmlCard card, NvmlMemory *memory) {
  const auto gib = [](unsigned long long count) { return count << 30; };
  *memory = {gib(79), gib(70 + unsigned(numberOf(card))), gib(9 - unsigned(numberOf(card)))};
  return 0;
}
NvmlResult nvmlDeviceGetUtilizationRates(NvmlCard, NvmlUtilization *utilization) {
  *utilization = {12, 3};
  return 0;
}
NvmlResult nvmlDeviceGetClockInfo(NvmlCard, int domain, unsigned *megahertz) {
  *megahertz = domain == kMemoryClock ? 2619 : 345;
  return 0;
}
NvmlResult nvmlDeviceGetMaxClockInfo(NvmlCard, int, unsigned *megahertz) {
  *megahertz = 1980;
  return 0;
}
NvmlResult nvmlDeviceGetTopologyCommonAncestor(NvmlCard, NvmlCard, int *level) {
  *level = 50;
  return 0;
}
NvmlResult nvmlDeviceGetP2PStatus(NvmlCard a, NvmlCard b, int way, int *status) {
  *status = way == kByNvLink && areJoined(a, b) ? kPeerOk : 1;
  return 0;
}
NvmlResult nvmlDeviceGetNvLinkState(NvmlCard, unsigned link, int *active) {
  *active = link < 18 ? kLinkActive : 0;
  return 0;
}
}
#pragma GCC visibility pop
