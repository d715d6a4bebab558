#include "backends/registry/GpuFacts.h"

#include "backends/cuda/emulated/EmulatedDriver.h"
#include "backends/cuda/images/Images.h"
#include "backends/cuda/runtime/CublasLt.h"
#include "backends/cuda/runtime/Cudnn.h"
#include "backends/cuda/runtime/Nccl.h"
#include "backends/cuda/text/Nvrtc.h"
#include "executor/base/NumberText.h"
#include "executor/device/DeviceNames.h"

namespace lstmc {

namespace {

/// "NVRTC 13.0": its identity without options and headers.
std::string nameOf(const cuda::TextCompiler &compiler) {
  const std::string identity = compiler.identity(0);
  return identity.substr(0, identity.find(" --"));
}

void ask(const cuda::Driver &driver, const cuda::Nvml *nvml, GpuFacts &facts) {
  Result<std::vector<cuda::CardFacts>> cards = cuda::cardFacts(driver, nvml);
  if (!cards.ok())
    facts.missing = cards.error().message;
  else
    facts.cards = std::move(*cards);
  facts.count = int(facts.cards.size());
}

} // namespace

std::string gpuDriverVersion(const cuda::Driver &driver) {
  int version = 0;
  driver.driverVersion(&version);
  const std::string cuda = fmt::format("CUDA {}.{}", version / 1000, version % 1000 / 10);
  const Result<const cuda::Nvml *> nvml = cuda::machineNvml();
  char name[81] = {}; // NVML_SYSTEM_DRIVER_VERSION_BUFFER_SIZE, and the end
  if (nvml.ok() && (*nvml)->driverVersion(name, sizeof(name) - 1) == 0)
    return fmt::format("{}, {}", name, cuda);
  return cuda;
}

template <typename Table>
static GpuFacts::Library library(const char *name, const Result<const Table *> &table) {
  if (!table.ok())
    return {name, "", table.error().message};
  return {name, cuda::versionOf(**table), ""};
}

/// Without a driver, those that the newest one could use.
static std::vector<GpuFacts::Library> librariesFor(const Result<const cuda::Driver *> &driver) {
  int version = 13000;
  if (driver.ok())
    (*driver)->driverVersion(&version);
  return {library("cuBLASLt", cuda::machineCublasLt(version)),
          library("cuDNN", cuda::machineCudnn()), library("NCCL", cuda::machineNccl())};
}

uint64_t gpuBytes(const DeviceName &device) {
  const bool emulated = device.kind == DeviceKind::Emu;
  if (!emulated && device.kind != DeviceKind::Gpu)
    return 0;
  const Result<const cuda::Driver *> driver =
      emulated ? Result<const cuda::Driver *>(&cuda::emulatedDriver()) : cuda::machineDriver();
  int count = 0;
  size_t bytes = 0;
  const bool here = driver.ok() && !(*driver)->deviceCount(&count) && device.index < count &&
                    !(*driver)->deviceMemory(&bytes, device.index);
  return here ? bytes : 0;
}

GpuFacts gpuFacts() {
  GpuFacts facts;
  const Result<const cuda::Driver *> driver = cuda::machineDriver();
  facts.libraries = librariesFor(driver);
  if (!driver.ok()) {
    facts.missing = driver.error().message;
    return facts;
  }
  const Result<const cuda::Nvml *> nvml = cuda::machineNvml();
  int version = 0;
  (*driver)->driverVersion(&version);
  facts.driver = gpuDriverVersion(**driver);
  const Result<const cuda::TextCompiler *> compiler = cuda::machineCompiler(version);
  facts.compiler = compiler.ok() ? nameOf(**compiler) : compiler.error().message;
  ask(**driver, nvml.ok() ? *nvml : nullptr, facts);
  if (facts.missing.empty() && facts.cards.empty())
    facts.missing = "the driver has no GPU";
  if (facts.missing.empty() && cuda::kernelImages().empty())
    facts.missing = "this build had no nvcc, so it has no kernels for GPUs";
  return facts;
}

GpuFacts emulatedGpuFacts() {
  GpuFacts facts;
  ask(cuda::emulatedDriver(), nullptr, facts);
  facts.cards.resize(std::min<size_t>(1, facts.cards.size()));
  return facts;
}

std::string gpuLoadText(std::span<const std::string> devices, const cuda::Driver &driver,
                        const cuda::Nvml &nvml) {
  std::string text;
  for (const std::string &device : devices) {
    const auto names = parseDevices(device);
    if (!names.ok() || names->size() != 1 || names->front().kind != DeviceKind::Gpu)
      continue;
    if (const auto load = cuda::cardLoad(driver, nvml, names->front().index))
      text += fmt::format("{}{} {} free, {} % busy", text.empty() ? "" : "; ", device,
                          bytesText(load->freeBytes), load->busyPercent);
  }
  return text;
}

std::string gpuLoadText(std::span<const std::string> devices) {
  const Result<const cuda::Driver *> driver = cuda::machineDriver();
  const Result<const cuda::Nvml *> nvml = cuda::machineNvml();
  return driver.ok() && nvml.ok() ? gpuLoadText(devices, **driver, **nvml) : "";
}

} // namespace lstmc
