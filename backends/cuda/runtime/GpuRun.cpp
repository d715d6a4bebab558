#include <algorithm>

#include "backends/cuda/runtime/GpuDeviceImpl.h"

namespace lstmc::cuda {

void GpuDevice::launch(uint32_t stream, PreparedProgram &program, size_t first, size_t last,
                       LaunchInterval *times) {
  enter();
  if (!capturing_) {
    check(static_cast<GpuProgram &>(program).placeTables(copies_));
    check(staging_.orderBefore(streams_));
  }
  auto &launches = static_cast<GpuProgram &>(program).launches;
  DriverStream handle = nullptr;
  check(streams_.use(stream, handle));
  for (size_t i = first; i < last; ++i) {
    if (times)
      times[i - first].begin = LaunchInterval::Clock::now();
    begun_.fetch_add(1, std::memory_order_relaxed);
    if (capturing_ || !stopped_.load()) { // a graph has all its launches
      const NvtxRange range(options_.profiler, launches[i].label);
      give(launches[i], handle);
    }
    if (times) {
      check(driver_.synchronize(handle));
      times[i - first].end = LaunchInterval::Clock::now();
    }
  }
}

void GpuDevice::runGraph(PreparedProgram &prepared, size_t number,
                         const std::function<void()> &give) {
  enter();
  auto &program = static_cast<GpuProgram &>(prepared);
  check(program.placeTables(copies_)); // before a capture, which allows none
  check(staging_.orderBefore(streams_));
  KeptGraph &graph = program.graph(number);
  // The host's copies are of pageable memory, which a capture need not allow. Nor need it allow
  // what a library does when it multiplies for the first time: load its own kernels.
  const bool first = program.needsLibrary() && !std::exchange(graph.ran, true);
  if (first || graph.refused || program.needsHost())
    return check(streams_.inPlaceOfGraph(give));
  if (graph.executable)
    begun_.fetch_add(graph.launches, std::memory_order_relaxed);
  else if (!makeGraph(program, graph, give))
    return check(streams_.inPlaceOfGraph(give));
  if (!stopped_.load())
    check(streams_.launch(graph));
}

bool GpuDevice::sharesGraphs(const Device &other) const {
  const auto *gpu = dynamic_cast<const GpuDevice *>(&other);
  return gpu && &gpu->driver_ == &driver_ && keepsGraphs() && gpu->keepsGraphs() &&
         reaches(other) && other.reaches(*this);
}

/// The first of the devices is this one. Counts the launches of all as its own. A graph of several
/// GPUs that the driver does not take is refused for good.
void GpuDevice::captureShared(KeptGraph &graph, const std::vector<GpuDevice *> &devices,
                              const std::function<void()> &give) {
  const auto begun = [&] {
    uint64_t all = 0;
    for (const GpuDevice *device : devices)
      all += device->begun_.load();
    return all;
  };
  const auto setCapturing = [&](bool on) {
    for (GpuDevice *device : devices)
      device->capturing_ = on;
  };
  const uint64_t before = begun();
  graph.guests.clear();
  for (GpuDevice *device : devices)
    if (device != this)
      graph.guests.push_back(&device->streams_);
  enter();
  setCapturing(true);
  try {
    check(streams_.capture(graph, [&] {
      give();
      enter();
    }));
  } catch (const std::runtime_error &error) {
    graph.refused = true;
    if (!std::exchange(toldOfGraphs_, true))
      choices_.push_back(std::string("no graph of several GPUs: ") + error.what());
  }
  setCapturing(false);
  graph.launches = begun() - before;
}

/// Nor does a library, whose first run need not be allowed in a capture.
bool GpuDevice::mayBeShared(const PreparedProgram &program) const {
  const auto &own = static_cast<const GpuProgram &>(program);
  return !own.needsHost() && !own.needsLibrary();
}

void GpuDevice::runSharedGraph(std::span<const GraphShare> all, size_t number,
                               const std::function<void()> &give) {
  const auto deviceOf = [](const GraphShare &share) -> GpuDevice & {
    return static_cast<GpuDevice &>(*share.device);
  };
  for (const GraphShare &share : all) {
    GpuDevice &device = deviceOf(share);
    device.enter();
    check(static_cast<GpuProgram *>(share.program)->placeTables(device.copies_));
    check(device.staging_.orderBefore(device.streams_));
  }
  KeptGraph &graph = static_cast<GpuProgram *>(all.front().program)->graph(number);
  if (graph.executable) {
    begun_.fetch_add(graph.launches, std::memory_order_relaxed);
  } else if (!graph.refused) {
    std::vector<GpuDevice *> devices;
    for (const GraphShare &share : all)
      if (std::ranges::find(devices, &deviceOf(share)) == devices.end())
        devices.push_back(&deviceOf(share));
    captureShared(graph, devices, give);
  }
  if (graph.refused) { // events order it all the same
    give();
    for (const GraphShare &share : all)
      share.device->finish();
    return;
  }
  enter();
  if (!stopped_.load())
    check(streams_.launch(graph));
}

/// False where the driver refuses a program with a library's launches, of which nobody knows what
/// they do in a capture: it then goes without this graph for good.
bool GpuDevice::makeGraph(const GpuProgram &program, KeptGraph &graph,
                          const std::function<void()> &give) {
  const uint64_t before = begun_.load();
  capturing_ = true;
  const std::unique_ptr<bool, void (*)(bool *)> over(&capturing_, [](bool *it) { *it = false; });
  try {
    check(streams_.capture(graph, give));
  } catch (const std::runtime_error &error) {
    if (!program.needsLibrary())
      throw;
    begun_.store(before);
    graph.refused = true;
    if (!std::exchange(toldOfGraphs_, true))
      choices_.push_back(std::string("no graph of a library's launches: ") + error.what());
    return false;
  }
  graph.launches = begun_.load() - before;
  return true;
}

/// What a library refuses at its first run is carried out in the next way, from the beginning: the
/// stream has got nothing but copies.
void GpuDevice::give(ReadyLaunch &ready, DriverStream stream) {
  if (ready.onHost)
    return check(ready.onHost->giveTo(driver_, stream));
  for (bool given = false; !given;) {
    try {
      giveKernels(ready, stream);
      given = true;
    } catch (const LibraryRefusal &refusal) {
      if (ready.instead.empty())
        throw;
      ready.kernels = std::move(ready.instead.front());
      ready.instead.erase(ready.instead.begin());
      for (const KernelStep &step : ready.kernels)
        if (step.call)
          step.call->takeOver(refusal.what());
    }
  }
  ready.instead.clear();
}

void GpuDevice::giveKernels(const ReadyLaunch &ready, DriverStream stream) const {
  for (const KernelStep &step : ready.kernels) {
    if (step.call) {
      step.call->giveTo(stream);
      waitFor(ready, "a library's call", stream);
      continue;
    }
    const GpuLaunch &launch = step.launch;
    if (driver_.expect)
      driver_.expect(ready.uses);
    void *parameters[] = {const_cast<std::byte *>(launch.arguments.data())};
    LaunchAttribute attribute;
    LaunchConfig config = configOf(launch, attribute);
    config.stream = stream;
    check(driver_.launch(&config, step.function, parameters, nullptr));
    waitFor(ready, launch.kernel, stream);
  }
}

/// With LSTMC_GPU_WAIT, so that an error names the kernel that made it.
void GpuDevice::waitFor(const ReadyLaunch &ready, std::string_view what,
                        DriverStream stream) const {
  const DriverResult error = waits_ ? driver_.synchronize(stream) : 0;
  if (error)
    throw std::runtime_error(fmt::format("{} ({}): {}", what, ready.label, driver_.textOf(error)));
}

} // namespace lstmc::cuda
