#include "backends/registry/Targets.h"

#include <algorithm>

#include "backends/cpu/compiler/CpuTarget.h"
#include "backends/cuda/compiler/GpuTarget.h"
#include "backends/null/compiler/NullTarget.h"

namespace lstmc {

namespace {

struct Row {
  DeviceKind kind;
  const target::Target &(*target)();
};

/// A line per kind of device.
constexpr Row kTargets[] = {
    {DeviceKind::Cpu, cpu::cpuTarget},    {DeviceKind::Trap, cpu::cpuTarget},
    {DeviceKind::Null, null::nullTarget}, {DeviceKind::Gpu, cuda::gpuTarget},
    {DeviceKind::Emu, cuda::gpuTarget},
};

} // namespace

const target::Target &targetOf(DeviceKind kind) {
  return std::ranges::find(kTargets, kind, &Row::kind)->target();
}

const target::Target &targetOf(std::string_view device) {
  Result<std::vector<DeviceName>> names = parseDevices(device);
  return targetOf(names.ok() ? names->front().kind : DeviceKind::Cpu);
}

} // namespace lstmc
