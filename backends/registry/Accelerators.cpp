#include "backends/registry/Accelerators.h"

#include <dlfcn.h>

#include "backends/cuda/emulated/EmulatedDriver.h"
#include "backends/cuda/images/Images.h"
#include "backends/cuda/runtime/CublasLt.h"
#include "backends/cuda/runtime/Cudnn.h"
#include "backends/cuda/runtime/Nccl.h"
#include "backends/cuda/text/Nvrtc.h"
#include "backends/registry/GpuFacts.h"
#include "backends/registry/GpuIdentities.h"
#include "executor/base/NumberText.h"
#include "executor/device/DeviceKinds.h"

namespace lstmc {

namespace {

/// "NVRTC 13.0": its identity without options and headers.
std::string nameOf(const cuda::TextCompiler &compiler) {
  const std::string identity = compiler.identity(0);
  return identity.substr(0, identity.find(" --"));
}

std::string gibText(uint64_t bytes) { return fmt::format("{:.1f} GiB", double(bytes) / (1 << 30)); }

Accelerator rowOf(const cuda::CardFacts &card, std::string_view kind) {
  Accelerator row{.name = fmt::format("{}:{}", kind, card.number),
                  .memoryBytes = card.memoryBytes,
                  .cores = card.multiprocessors,
                  .level = fmt::format("sm_{}", card.capability),
                  .model = card.name,
                  .figures = {{"free_bytes", card.freeBytes},
                              {"clock_mhz", card.clock},
                              {"most_clock_mhz", card.mostClock},
                              {"memory_clock_mhz", card.memoryClock}},
                  .links = card.links};
  if (card.freeBytes > 0)
    row.notes.push_back(gibText(card.freeBytes) + " free");
  if (card.clock > 0) {
    row.notes.push_back(fmt::format("{} of {} MHz", card.clock, card.mostClock));
    row.notes.push_back(fmt::format("memory {} MHz", card.memoryClock));
  }
  return row;
}

/// The cards that a driver has.
void ask(const cuda::Driver &driver, const cuda::Nvml *nvml, Accelerators &found) {
  Result<std::vector<cuda::CardFacts>> cards = cuda::cardFacts(driver, nvml);
  if (!cards.ok()) {
    found.missing = cards.error().message;
    return;
  }
  for (const cuda::CardFacts &card : *cards)
    found.devices.push_back(rowOf(card, found.kind));
  found.count = int(found.devices.size());
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
static Accelerators::Library library(const char *name, const Result<const Table *> &table) {
  if (!table.ok())
    return {name, "", table.error().message};
  return {name, cuda::versionOf(**table), ""};
}

/// Without a driver, those that the newest one could use.
static std::vector<Accelerators::Library> librariesFor(const Result<const cuda::Driver *> &driver) {
  int version = 13000;
  if (driver.ok())
    (*driver)->driverVersion(&version);
  return {library("cuBLASLt", cuda::machineCublasLt(version)),
          library("cuDNN", cuda::machineCudnn()), library("NCCL", cuda::machineNccl())};
}

uint64_t acceleratorBytes(const DeviceName &device) {
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

static Accelerators gpus() {
  Accelerators found{.kind = std::string(factsOf(DeviceKind::Gpu).name)};
  const Result<const cuda::Driver *> driver = cuda::machineDriver();
  found.libraries = librariesFor(driver);
  if (!driver.ok()) {
    found.missing = driver.error().message;
    return found;
  }
  const Result<const cuda::Nvml *> nvml = cuda::machineNvml();
  int version = 0;
  (*driver)->driverVersion(&version);
  found.driver = gpuDriverVersion(**driver);
  const Result<const cuda::TextCompiler *> compiler = cuda::machineCompiler(version);
  found.compiler = compiler.ok() ? nameOf(**compiler) : compiler.error().message;
  ask(**driver, nvml.ok() ? *nvml : nullptr, found);
  if (found.missing.empty() && found.devices.empty())
    found.missing = "the driver has no GPU";
  if (found.missing.empty() && cuda::kernelImages().empty())
    found.missing = "this build had no nvcc, so it has no kernels for GPUs";
  return found;
}

std::vector<Accelerators> accelerators() { return {gpus()}; }

std::vector<Accelerators> emulatedAccelerators() {
  Accelerators found{.kind = std::string(factsOf(DeviceKind::Emu).name)};
  ask(cuda::emulatedDriver(), nullptr, found);
  found.devices.resize(std::min<size_t>(1, found.devices.size()));
  for (Accelerator &device : found.devices)
    device.notes.push_back(
        fmt::format("for correctness: its times say nothing; any of {}", found.count));
  return {found};
}

/// What the driver counts, without any other function of it.
static AcceleratorFinding gpuFinding() {
  void *driver = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  auto init = reinterpret_cast<int (*)(unsigned)>(driver ? ::dlsym(driver, "cuInit") : nullptr);
  auto count =
      reinterpret_cast<int (*)(int *)>(driver ? ::dlsym(driver, "cuDeviceGetCount") : nullptr);
  int gpus = 0;
  const bool here = init && count && init(0) == 0 && count(&gpus) == 0 && gpus > 0;
  return {"GPUs", here,
          here     ? fmt::format("{}", gpus)
          : driver ? "driver without GPU"
                   : "no driver",
          "NVIDIA's driver for the card: apt-get install nvidia-driver"};
}

static AcceleratorFinding ncclFinding() {
  const Result<std::string> version = ncclVersion(DeviceKind::Gpu);
  return {"NCCL", version.ok(), version.ok() ? *version : "no libnccl.so.2",
          "apt-get install libnccl2, from NVIDIA's repository, or pip install nvidia-nccl-cu13"};
}

std::vector<AcceleratorFinding> acceleratorFindings() { return {gpuFinding(), ncclFinding()}; }

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

std::string acceleratorLoadText(std::span<const std::string> devices) {
  const Result<const cuda::Driver *> driver = cuda::machineDriver();
  const Result<const cuda::Nvml *> nvml = cuda::machineNvml();
  if (!driver.ok() || !nvml.ok())
    return "";
  const std::string text = gpuLoadText(devices, **driver, **nvml);
  return text.empty() ? "" : "gpus      " + text;
}

} // namespace lstmc
