#include "backends/registry/GpuIdentities.h"

#include <cstdlib>
#include <fstream>

#include <unistd.h>

#include "backends/cuda/emulated/EmulatedDriver.h"
#include "backends/cuda/emulated/EmulatedNccl.h"
#include "backends/cuda/images/Images.h"
#include "backends/registry/GpuFacts.h"

namespace lstmc {

namespace {

/// Differs between machines, and is the same in all containers of one.
std::string bootOfMachine() {
  std::string boot = "?";
  std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
  return boot;
}

std::string hostName() {
  char name[256] = {};
  ::gethostname(name, sizeof name - 1);
  return name;
}

void identify(const cuda::Driver &driver, const std::string &where, GpuIdentities &gpus) {
  int count = 0;
  if (cuda::DriverResult error = driver.deviceCount(&count))
    gpus.missing = "the driver does not count its GPUs: " + driver.textOf(error);
  for (int card = 0; card < count; ++card) {
    char bus[64] = {};
    // A process may see some of the machine's, under numbers of its own.
    const bool known = driver.pciBusId(bus, sizeof(bus) - 1, card) == 0;
    gpus.identities.push_back(where + "/" + (known ? std::string(bus) : std::to_string(card)));
  }
  if (gpus.missing.empty() && count == 0)
    gpus.missing = "the driver has no GPU";
}

} // namespace

GpuIdentities gpuIdentities(DeviceKind kind) {
  GpuIdentities gpus;
  gpus.machine = bootOfMachine();
  gpus.host = hostName();
  if (kind == DeviceKind::Emu) {
    if (const char *name = std::getenv("LSTMC_EMU_HOST"))
      gpus.host = name;
    if (Result<std::string> nccl = ncclVersion(kind); nccl.ok())
      gpus.nccl = *nccl;
    identify(cuda::emulatedDriver(), gpus.machine + "/" + gpus.host, gpus);
    return gpus;
  }
  if (Result<std::string> nccl = ncclVersion(kind); nccl.ok())
    gpus.nccl = *nccl;
  const Result<const cuda::Driver *> driver = cuda::machineDriver();
  if (!driver.ok()) {
    gpus.missing = driver.error().message;
    return gpus;
  }
  if (cuda::kernelImages().empty()) {
    gpus.missing = "this build had no nvcc, so it has no kernels for GPUs";
    return gpus;
  }
  gpus.driver = gpuDriverVersion(**driver);
  identify(**driver, gpus.machine, gpus);
  return gpus;
}

Result<std::string> ncclVersion(DeviceKind kind) {
  LSTMC_ASSIGN(const cuda::Nccl *nccl,
               kind == DeviceKind::Emu ? cuda::emulatedNccl() : cuda::machineNccl());
  return versionOf(*nccl);
}

} // namespace lstmc
