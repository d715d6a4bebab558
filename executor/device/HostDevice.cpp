#include "executor/device/HostDevice.h"

#include <atomic>
#include <cassert>
#include <cstring>
#include <new>
#include <utility>

#include "executor/base/HostMemory.h"
#include "executor/base/Pages.h"
#include "executor/base/Processors.h"
#include "executor/base/Threads.h"
#include "executor/device/Fence.h"
#include "executor/device/StopFlag.h"
#include "executor/device/ThreadTeam.h"

namespace lstmc {

namespace {

struct HostLaunch {
  KernelFunction function;
  LaunchArgs args;
};

class HostProgram final : public PreparedProgram {
public:
  size_t size() const override { return launches.size(); }

  std::vector<LaunchSpec> specs; ///< own what the launches point at
  std::vector<HostLaunch> launches;
  std::unique_ptr<Fence> fence;
};

/// Takes a fence away however a run ends.
class FenceEnd {
public:
  explicit FenceEnd(const Fence &fence) : fence_(fence) {}
  ~FenceEnd() { fence_.leave(); }
  FenceEnd(const FenceEnd &) = delete;
  FenceEnd &operator=(const FenceEnd &) = delete;

private:
  const Fence &fence_;
};

class HostDevice final : public Device {
public:
  HostDevice(std::string name, KernelChooser choose, int threads, const MemorySource &memory)
      : name_(std::move(name)), choose_(choose), arena_(memory),
        team_(threads, ThreadTeam::Size::Best) {}

  const std::string &name() const override { return name_; }
  uint64_t memoryBytes() const override { return hostMemory().bytes; }
  int threads() const override { return team_.count(); }
  Status allocate(uint64_t bytes) override { return arena_.allocate(bytes, name_); }
  std::byte *arena() const override { return arena_.data(); }
  uint64_t touchedBytes() const override {
    return lstmc::touchedBytes(arena_.data(), arena_.bytes());
  }

  Result<std::unique_ptr<PreparedProgram>> prepare(std::vector<LaunchSpec> launches) override;
  void launch(uint32_t stream, PreparedProgram &program, size_t first, size_t last,
              LaunchInterval *times) override;

  uint64_t launchesBegun() const override { return begun_.load(std::memory_order_relaxed); }
  void stop(bool stopped) override { team_.stop(stopped); }

  bool hostVisible() const override { return true; }
  bool mappable() const override { return arena_.isMapped(); }
  void copyIn(uint64_t offset, std::span<const std::byte> from) override {
    assert(offset + from.size() <= arena_.bytes());
    std::memcpy(arena_.data() + offset, from.data(), from.size());
  }
  void copyOut(uint64_t offset, std::span<std::byte> to) const override {
    assert(offset + to.size() <= arena_.bytes());
    std::memcpy(to.data(), arena_.data() + offset, to.size());
  }
  void clear(uint64_t offset, uint64_t bytes) override {
    assert(offset + bytes <= arena_.bytes());
    std::memset(arena_.data() + offset, 0, bytes);
  }
  bool reaches(const Device &other) const override { return other.hostVisible(); }

private:
  std::string name_;
  KernelChooser choose_;
  Arena arena_;
  std::atomic<uint64_t> begun_{0}; ///< launches; the first worker alone writes it
  ThreadTeam team_;
};

Result<std::unique_ptr<PreparedProgram>> HostDevice::prepare(std::vector<LaunchSpec> specs) {
  auto program = std::make_unique<HostProgram>();
  program->specs = std::move(specs);
  program->launches.reserve(program->specs.size());
  for (const LaunchSpec &spec : program->specs) {
    KernelFunction function = choose_(spec.kernel, spec.operands);
    if (!function)
      return fail(ErrorCode::E0402, "{} has no kernel \"{}\" for these types", name_,
                  kernelRecord(spec.kernel).name);
    program->launches.push_back(
        {function, LaunchArgs{spec.operands, spec.ints, spec.floats, spec.program}});
  }
  program->fence = std::make_unique<Fence>(
      program->specs, Fence::Bytes(arena_.data(), arena_.data() + arena_.bytes()));
  return std::unique_ptr<PreparedProgram>(std::move(program));
}

/// All streams are one: the order in which they are given launches is one that they may have.
void HostDevice::launch(uint32_t, PreparedProgram &program, size_t first, size_t last,
                        LaunchInterval *times) {
  const HostLaunch *launches = static_cast<HostProgram &>(program).launches.data() + first;
  const size_t count = last - first;
  if (count == 0)
    return;
  const Fence *fence = static_cast<HostProgram &>(program).fence.get();
  const FenceEnd end(*fence);
  // Every launch ends where the next begins.
  auto now = [times](size_t launch) {
    auto moment = LaunchInterval::Clock::now();
    times[launch].begin = moment;
    if (launch > 0)
      times[launch - 1].end = moment;
  };
  const uint64_t before = begun_.load(std::memory_order_relaxed);
  std::atomic<size_t> endsAt{count}; ///< the first launch that is left out, as the run was ended
  team_.run([=, this, &endsAt](Worker &worker) {
    const bool timed = times && worker.index == 0;
    for (size_t i = 0; i < count; ++i) {
      if (timed)
        now(i);
      if constexpr (kPoisons) {
        if (worker.index == 0)
          fence->enter(first + i);
        worker.barrier();
      }
      if (worker.index == 0)
        begun_.store(before + i + 1, std::memory_order_relaxed);
      launches[i].function(launches[i].args, worker);
      if (i + 1 == count) // the team itself waits for the last one
        break;
      if (worker.index == 0 && stopAsked() && endsAt.load(std::memory_order_relaxed) == count)
        endsAt.store(i + 1, std::memory_order_relaxed);
      worker.barrier();
      // A number, since the first worker may be one launch ahead of one that has not looked yet.
      if (endsAt.load(std::memory_order_relaxed) <= i + 1)
        break;
    }
  });
  if (times)
    times[count - 1].end = LaunchInterval::Clock::now();
}

} // namespace

Result<std::unique_ptr<Device>> makeHostDevice(std::string name, KernelChooser choose, int threads,
                                               const MemorySource &memory) {
  if (threads <= 0)
    threads = defaultThreads();
  try {
    return std::unique_ptr<Device>(std::make_unique<HostDevice>(name, choose, threads, memory));
  } catch (const std::system_error &error) {
    return noThread(fmt::format("the {} threads of {}", threads, name), error);
  } catch (const std::bad_alloc &) {
    return fail(ErrorCode::E0901, "{}: found no memory for {} workers", name, threads);
  }
}

} // namespace lstmc
