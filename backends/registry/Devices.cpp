#include "backends/registry/Devices.h"

#include <algorithm>

#include "backends/cpu/runtime/KernelTable.h"
#include "backends/cpu/runtime/Level.h"
#include "backends/cuda/emulated/EmulatedCublasLt.h"
#include "backends/cuda/emulated/EmulatedCudnn.h"
#include "backends/cuda/emulated/EmulatedDriver.h"
#include "backends/cuda/emulated/EmulatedNccl.h"
#include "backends/cuda/images/Images.h"
#include "backends/cuda/runtime/GpuDevice.h"
#include "backends/cuda/text/Nvrtc.h"
#include "backends/null/runtime/Null.h"
#include "backends/trap/runtime/Trap.h"
#include "executor/base/Processors.h"
#include "executor/device/HostDevice.h"
#include "executor/reference/Reference.h"

namespace lstmc {

namespace {

KernelFunction fastKernel(KernelId id, std::span<const Tensor> operands) {
  return cpu::kernelTable(cpu::chosenLevel()).find(id, operands);
}

KernelFunction naiveKernel(KernelId id, std::span<const Tensor>) { return reference::kernel(id); }
KernelFunction nullKernel(KernelId id, std::span<const Tensor>) { return null::kernel(id); }

KernelChooser chooserOf(Engine engine) {
  switch (engine) {
  case Engine::Naive:
    return naiveKernel;
  case Engine::Null:
    return nullKernel;
  case Engine::Fast:
    break;
  }
  return fastKernel;
}

Result<std::unique_ptr<Device>> makeCpu(const DeviceName &name, int, const DeviceOptions &options) {
  return makeHostDevice(name.text(), chooserOf(options.engine), options.threads, options.memory);
}

Result<std::unique_ptr<Device>> makeTrap(const DeviceName &name, int,
                                         const DeviceOptions &options) {
  LSTMC_ASSIGN(std::unique_ptr<Device> device, makeCpu(name, 0, options));
  return trap::makeTrapDevice(std::move(device));
}

Result<std::unique_ptr<Device>> makeNull(const DeviceName &name, int, const DeviceOptions &given) {
  DeviceOptions options = given;
  options.engine = Engine::Null;
  return makeCpu(name, 0, options);
}

/// Null where there is none, or none is wanted.
template <typename Find> const cuda::Nccl *ncclFor(const DeviceOptions &options, Find find) {
  if (!options.channels)
    return nullptr;
  const Result<const cuda::Nccl *> nccl = find();
  return nccl.ok() ? *nccl : nullptr;
}

/// Any engine: kernels of the host are used for what a GPU has none for.
Result<std::unique_ptr<Device>> makeEmulated(const DeviceName &name, int card,
                                             const DeviceOptions &options) {
  return cuda::makeGpuDevice(name.text(), cuda::emulatedDriver(),
                             {.card = card,
                              .images = cuda::emulatedImages(),
                              .onHost = chooserOf(options.engine),
                              .nccl = ncclFor(options, cuda::emulatedNccl),
                              .cublasLt = cuda::emulatedCublasLt,
                              .cudnn = cuda::emulatedCudnn,
                              .profiler = cuda::machineProfiler()});
}

Result<const cuda::CublasLt *> machineCublasLt() {
  LSTMC_ASSIGN(const cuda::Driver *driver, cuda::machineDriver());
  int version = 0;
  driver->driverVersion(&version);
  return cuda::machineCublasLt(version);
}

Result<std::unique_ptr<Device>> makeGpu(const DeviceName &name, int card,
                                        const DeviceOptions &options) {
  Result<const cuda::Driver *> driver = cuda::machineDriver();
  if (!driver.ok())
    return fail(ErrorCode::E0501, "{}: {}", name.text(), driver.error().message);
  if (cuda::kernelImages().empty())
    return fail(ErrorCode::E0501, "{}: this build had no nvcc, so it has no kernels for GPUs",
                name.text());
  int version = 0;
  (*driver)->driverVersion(&version);
  const Result<const cuda::TextCompiler *> compiler = cuda::machineCompiler(version);
  return cuda::makeGpuDevice(name.text(), **driver,
                             {.card = card,
                              .images = cuda::kernelImages(),
                              .onHost = chooserOf(options.engine),
                              .compiler = compiler.ok() ? *compiler : nullptr,
                              .nccl = ncclFor(options, cuda::machineNccl),
                              .cublasLt = machineCublasLt,
                              .cudnn = cuda::machineCudnn,
                              .profiler = cuda::machineProfiler()});
}

struct Row {
  DeviceKind kind;
  Result<std::unique_ptr<Device>> (*make)(const DeviceName &name, int card,
                                          const DeviceOptions &options);
};

/// A line per kind of device that can run; the others are refused.
constexpr Row kDevices[] = {
    {DeviceKind::Cpu, makeCpu},      {DeviceKind::Trap, makeTrap}, {DeviceKind::Null, makeNull},
    {DeviceKind::Emu, makeEmulated}, {DeviceKind::Gpu, makeGpu},
};

const Row &rowOf(DeviceKind kind) { return *std::ranges::find(kDevices, kind, &Row::kind); }

} // namespace

Result<std::vector<std::unique_ptr<Device>>> makeDevices(const std::vector<DeviceName> &names,
                                                         DeviceOptions options) {
  const std::string cpus = names.size() == 1 ? "cpu" : fmt::format("{}xcpu", names.size());
  if (options.threads == 0) {
    LSTMC_ASSIGN(options.threads, defaultThreadsOf(names.size()));
  }
  std::vector<std::unique_ptr<Device>> devices;
  for (size_t i = 0; i < names.size(); ++i) {
    const DeviceName &name = names[i];
    const int card = options.cards.empty() ? name.index : options.cards[i];
    Result<std::unique_ptr<Device>> device = rowOf(name.kind).make(name, card, options);
    if (!device.ok() && name.kind == DeviceKind::Gpu)
      return fail(ErrorCode::E0501, "{}; -d {} would do", device.error().message, cpus);
    if (!device.ok())
      return device.error();
    devices.push_back(std::move(*device));
  }
  return devices;
}

Result<std::vector<std::unique_ptr<Device>>> makeDevices(std::string_view list,
                                                         DeviceOptions options) {
  LSTMC_ASSIGN(std::vector<DeviceName> names, parseDevices(list));
  return makeDevices(names, options);
}

} // namespace lstmc
