#include "backends/cuda/runtime/GpuProgram.h"

#include <algorithm>
#include <cstring>

#include "executor/abi/Packing.h"

namespace lstmc::cuda {

LaunchConfig configOf(const GpuLaunch &launch, LaunchAttribute &attribute) {
  LaunchConfig config = {.grid = {unsigned(launch.blocks), 1, 1},
                         .block = {unsigned(launch.threads), 1, 1},
                         .sharedBytes = unsigned(launch.sharedBytes)};
  attribute = launch.cooperative
                  ? LaunchAttribute{LaunchAttribute::Cooperative, 0, {1}}
                  : LaunchAttribute{LaunchAttribute::Cluster, 0, {unsigned(launch.cluster), 1, 1}};
  if (launch.cluster > 1 || launch.cooperative) { // never both
    config.attributes = &attribute;
    config.attributeCount = 1;
  }
  return config;
}

GpuProgram::~GpuProgram() {
  driver_.setContext(context_);
  for (const auto &[number, graph] : graphs_)
    if (graph.executable)
      driver_.destroyExecutable(graph.executable);
  if (besides_) {
    driver_.free(tablesAt_);
    *besides_ -= tables_.size();
  }
}

bool GpuProgram::needsHost() const {
  return std::ranges::any_of(launches, [](const ReadyLaunch &launch) { return !!launch.onHost; });
}

bool GpuProgram::needsLibrary() const {
  return std::ranges::any_of(launches, [](const ReadyLaunch &launch) {
    return std::ranges::any_of(launch.kernels, [](const KernelStep &step) { return !!step.call; });
  });
}

void GpuProgram::take(std::vector<ReadyLaunch> ready) {
  launches = std::move(ready);
  for (ReadyLaunch &launch : launches)
    for (KernelStep &step : launch.kernels)
      if (std::vector<std::byte> &table = step.launch.table; !table.empty()) {
        tables_.resize(size_t(roundUp(int64_t(tables_.size()), kAlignment)));
        users_.push_back({&launch, &step, tables_.size(), table.size()});
        tables_.insert(tables_.end(), table.begin(), table.end());
        table = {};
      }
}

void GpuProgram::setTables(DeviceAddress at, std::shared_ptr<uint64_t> besides) {
  tablesAt_ = at;
  besides_ = std::move(besides);
  if (besides_)
    *besides_ += tables_.size();
  for (const Table &table : users_) {
    const DeviceAddress address = at + table.offset;
    std::memcpy(table.step->launch.arguments.data() + table.step->launch.tableAt, &address,
                sizeof(address));
    table.launch->uses.push_back({address, table.bytes, false, "its table"});
  }
}

DriverResult GpuProgram::placeTables(DriverStream stream) {
  if (placed_ || tables_.empty())
    return 0;
  DriverResult error = driver_.copyIn(tablesAt_, tables_.data(), tables_.size(), stream);
  if (!error)
    error = driver_.synchronize(stream);
  placed_ = !error;
  return error;
}

} // namespace lstmc::cuda
