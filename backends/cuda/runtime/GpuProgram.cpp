#include "backends/cuda/runtime/GpuProgram.h"

#include <algorithm>
#include <cstring>

#include "executor/abi/Packing.h"

namespace lstmc::cuda {

GpuProgram::~GpuProgram() {
  driver_.setContext(context_);
  for (const auto &[number, graph] : graphs_)
    if (graph.executable)
      driver_.destroyExecutable(graph.executable);
  if (tables_)
    driver_.free(tables_);
}

bool GpuProgram::needsHost() const {
  return std::ranges::any_of(launches, [](const ReadyLaunch &launch) { return !!launch.onHost; });
}

DriverResult GpuProgram::placeTables(DriverStream stream) {
  std::vector<std::byte> all;
  std::vector<std::pair<ReadyLaunch *, KernelStep *>> users;
  std::vector<size_t> offsets;
  for (ReadyLaunch &launch : launches)
    for (KernelStep &step : launch.kernels)
      if (!step.launch.table.empty()) {
        all.resize(size_t(roundUp(int64_t(all.size()), kAlignment)));
        users.emplace_back(&launch, &step);
        offsets.push_back(all.size());
        all.insert(all.end(), step.launch.table.begin(), step.launch.table.end());
      }
  if (all.empty())
    return 0;
  if (DriverResult error = driver_.allocate(&tables_, all.size()))
    return error;
  for (size_t i = 0; i < users.size(); ++i) {
    auto [launch, step] = users[i];
    const DeviceAddress address = tables_ + offsets[i];
    std::memcpy(step->launch.arguments.data() + step->launch.tableAt, &address, sizeof(address));
    launch->uses.push_back({address, step->launch.table.size(), false, "its table"});
    step->launch.table.clear();
  }
  if (DriverResult error = driver_.copyIn(tables_, all.data(), all.size(), stream))
    return error;
  return driver_.synchronize(stream);
}

} // namespace lstmc::cuda
