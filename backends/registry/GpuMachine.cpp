#include "backends/registry/GpuMachine.h"

#include "backends/cuda/compiler/Cards.h"
#include "backends/cuda/emulated/EmulatedDriver.h"
#include "backends/cuda/runtime/Cards.h"
#include "backends/cuda/runtime/Shape.h"

namespace lstmc {

namespace {

Result<const cuda::Driver *> driverOf(DeviceKind kind) {
  if (kind == DeviceKind::Emu)
    return &cuda::emulatedDriver();
  return cuda::machineDriver();
}

/// That whose name is a word of the card's: "H200" of "NVIDIA H200 NVL".
const cuda::DataSheet &sheetOf(const std::string &card) {
  const std::string words = " " + card + " ";
  for (const cuda::DataSheet &sheet : cuda::dataSheets())
    if (words.find(fmt::format(" {} ", sheet.name)) != std::string::npos ||
        words.find(fmt::format(" {}-", sheet.name)) != std::string::npos) // "A100-SXM4-80GB"
      return sheet;
  return cuda::dataSheets().front();
}

} // namespace

Result<GpuMachine> gpuMachine(const DeviceName &device) {
  LSTMC_ASSIGN(const cuda::Driver *driver, driverOf(device.kind));
  LSTMC_ASSIGN(std::vector<cuda::CardFacts> cards, cuda::cardFacts(*driver, nullptr));
  if (size_t(device.index) >= cards.size())
    return fail(ErrorCode::E0501, "{}: found {} GPUs", device.text(), cards.size());
  const cuda::DataSheet &sheet = sheetOf(cards[size_t(device.index)].name);
  cuda::GpuRates rates = sheet.rates();
  if (cuda::DriverResult error = cuda::findShape(*driver, device.index, rates.shape))
    return fail(ErrorCode::E0501, "{}: {}", device.text(), driver->textOf(error));
  return GpuMachine{cards[size_t(device.index)].name,
                    {.figures = rates.figures(), .link = sheet.link()}};
}

target::Machine withMeasured(const target::Machine &machine, const target::Speeds &speeds,
                             double times) {
  cuda::GpuRates rates = cuda::GpuRates::of(machine);
  rates.speeds = speeds;
  rates.recurrences = times;
  target::Machine measured = machine;
  measured.figures = rates.figures();
  measured.measuredThreads = 1;
  return measured;
}

} // namespace lstmc
