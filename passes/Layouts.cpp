#include "passes/Layouts.h"

#include <algorithm>

#include "backends/cpu/compiler/Forecast.h"

namespace lstmc::passes {

/// Chunks that are tried; those that are more than steps count as steps.
static constexpr int64_t kChunks[] = {1, 2, 4, 8, 16, 32};

std::vector<CompileOptions> openLayouts(const CompileOptions &options) {
  std::vector<CompileOptions> layouts;
  auto devices = int64_t(options.devices.size());
  auto addChunks = [&](CompileOptions layout) {
    if (layout.devicesPerReplica() == 1 || layout.chunks > 0)
      return layouts.push_back(layout);
    for (int64_t chunks : kChunks) {
      layout.chunks = chunks;
      layouts.push_back(layout);
    }
  };
  if (options.stages > 0 || !options.place.empty()) {
    addChunks(options);
    return layouts;
  }
  CompileOptions alone = options;
  alone.devices.resize(1);
  alone.stages = 1;
  alone.workLoads.clear();
  layouts.push_back(alone);
  for (int64_t stages = 1; stages <= devices; ++stages)
    if (devices > 1 && devices % stages == 0 &&
        (options.workLoads.empty() || int64_t(options.workLoads.size()) == devices / stages)) {
      CompileOptions layout = options;
      layout.stages = stages;
      addChunks(layout);
    }
  return layouts;
}

Layout weigh(const package::PackageData &data, const CompileOptions &options) {
  Layout layout{int64_t(data.devices.size()), options.devicesPerReplica(),
                std::max<int64_t>(options.chunks, 1)};
  for (const package::Device &device : data.devices)
    layout.peakBytes = std::max(layout.peakBytes, device.arenaBytes);
  layout.fits = !options.memoryLimit || layout.peakBytes <= *options.memoryLimit;
  cpu::Machines machines =
      options.machines; // a layout leaves none of the devices out but all behind the first
  if (machines.size() > data.devices.size())
    machines.resize(data.devices.size());
  if (data.devices.size() == 1 && options.machineAlone)
    machines = {*options.machineAlone};
  for (const char *name : {"step", "forward", "evaluate"}) {
    auto entry = std::find_if(data.entries.begin(), data.entries.end(),
                              [&](const package::Entry &e) { return e.name == name; });
    if (entry == data.entries.end())
      continue;
    layout.seconds = cpu::forecast(data, *entry, machines).seconds;
    break;
  }
  return layout;
}

} // namespace lstmc::passes
