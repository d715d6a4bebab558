// libcuda.so.1 of three H100 that say what they are and do nothing.
#include <cstdio>
#include <map>

#include "backends/cuda/runtime/Driver.h"

using namespace lstmc::cuda;

#pragma GCC visibility push(default)
extern "C" {

DriverResult cuInit(unsigned) { return 0; }
DriverResult cuDriverGetVersion(int *version) {
  *version = 13000;
  return 0;
}
DriverResult cuDeviceGetCount(int *count) {
  *count = 3;
  return 0;
}
DriverResult cuDeviceGetName(char *name, int length, CardNumber) {
  std::snprintf(name, size_t(length), "NVIDIA H100 80GB HBM3");
  return 0;
}
DriverResult cuDeviceTotalMem_v2(size_t *bytes, CardNumber) {
  *bytes = size_t(79) << 30;
  return 0;
}
DriverResult cuDeviceGetAttribute(int *value, int attribute, CardNumber) {
  static const std::map<int, int> kOfH100 = {
      {kMultiprocessorCount, 132}, {kCapabilityMajor, 9}, {kCapabilityMinor, 0}};
  const auto found = kOfH100.find(attribute);
  *value = found == kOfH100.end() ? 0 : found->second;
  return 0;
}
DriverResult cuDeviceGetPCIBusId(char *id, int length, CardNumber card) {
  std::snprintf(id, size_t(length), "0000:%02x:00.0", unsigned(card));
  return 0;
}
}
#pragma GCC visibility pop
