// What the runtime asks of a target.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "executor/abi/FastRules.h"
#include "executor/abi/FusedProgram.h"
#include "executor/base/Status.h"
#include "executor/device/Kernel.h"

namespace lstmc {

/// A launch whose operands point into the device's arena (what a copy reads, perhaps into that of
/// another device), as a session hands it over. The package's check has passed: a device trusts
/// operands, types, shapes and attributes. Never a transfer.
struct LaunchSpec {
  KernelId kernel = KernelId::Fill;
  std::vector<Tensor> operands; ///< an absent one has a null `data`
  std::vector<int64_t> ints;
  std::vector<double> floats;
  const FusedProgram *program = nullptr; ///< of `fused` only; outlives the device
  std::string label = {}; ///< "lstm0 rnn_forward net.lnet:12"; where Device::wantsLabels()
  FastRules fast = {};    ///< of the package
};

/// Launches that a device has made ready: kernels chosen, operands resolved.
class PreparedProgram {
public:
  virtual ~PreparedProgram() = default;
  virtual size_t size() const = 0;
};

/// When a launch ran: from when all before it on the device were done to when it was.
struct LaunchInterval {
  using Clock = std::chrono::steady_clock;
  Clock::time_point begin, end;
};

/// One device: one arena, and programs over it. Used by one thread at a time.
class Device {
public:
  virtual ~Device() = default;

  /// "cpu:0"
  virtual const std::string &name() const = 0;
  /// Bytes of memory that the device has in all.
  virtual uint64_t memoryBytes() const = 0;
  virtual int threads() const = 0;

  /// Makes the device's only allocation, zeroed, aligned to kAlignment; frees the one before
  /// it. E0901 when it cannot be had.
  virtual Status allocate(uint64_t bytes) = 0;
  /// Where the arena begins, in the device's own addresses: for operands of launches. The host may
  /// touch what is there only where hostVisible().
  virtual std::byte *arena() const = 0;
  /// Bytes of the arena in pages that were used since allocate(), counted by the system.
  virtual uint64_t touchedBytes() const = 0;

  /// All programs that launches of `fused` will name, before they are prepared: for a device that
  /// compiles them. They outlive the device.
  virtual Status compile(std::span<const FusedProgram> /*programs*/) { return {}; }
  /// Whether a profiler is told which launch runs.
  virtual bool wantsLabels() const { return false; }
  /// A one-time performance warning, e.g. that fused programs are interpreted.
  virtual std::optional<Error> notice() { return std::nullopt; }
  /// Log lines: library algorithms selected since the last call.
  virtual std::vector<std::string> choices() { return {}; }
  /// E0402 when the device has no kernel for a launch.
  virtual Result<std::unique_ptr<PreparedProgram>> prepare(std::vector<LaunchSpec> launches) = 0;

  // Launches are given to streams. Those of one stream are carried out in order, those of two in
  // any order, but for events. A device whose launch() returns when the launches are done, such as
  // a host, has nothing to do in the other calls; one that has fewer streams may take several for
  // one, since every event is recorded before it is waited for.
  /// Makes room for programs of so many streams and events, since a run allocates nothing.
  virtual Status reserve(uint32_t /*streams*/, uint32_t /*events*/) { return {}; }
  /// Launches [first, last), in order, after all that the stream was given before. May return
  /// before they are done. `times`, unless null, takes an interval of each, by when they are done.
  virtual void launch(uint32_t stream, PreparedProgram &program, size_t first, size_t last,
                      LaunchInterval *times = nullptr) = 0;
  /// The event is there when all that the stream was given before is done.
  virtual void record(uint32_t /*stream*/, uint32_t /*event*/) {}
  /// What the stream is given from now on waits for the event as it was recorded last.
  virtual void wait(uint32_t /*stream*/, uint32_t /*event*/) {}
  /// Returns when all that the stream was given is done.
  virtual void synchronize(uint32_t /*stream*/) {}
  /// Returns when all streams are done.
  virtual void finish() {}
  /// Whether it keeps what it is given as graphs; a session then gives it launches by runGraph()
  /// where it can.
  virtual bool keepsGraphs() const { return false; }
  /// Carries out what `give` gives the device, which is the same whenever the number is: a device
  /// that keeps graphs calls it once for each number. Comes after all that any stream was given
  /// before, and before all that any is given later. May return before it is done.
  virtual void runGraph(PreparedProgram & /*program*/, size_t /*number*/,
                        const std::function<void()> &give) {
    give();
  }
  /// Launches on stream 0, and waits for them.
  void run(PreparedProgram &program, size_t first, size_t last, LaunchInterval *times = nullptr) {
    launch(0, program, first, last, times);
    synchronize(0);
  }

  // From any thread, while a run is under way too.
  /// Launches begun since the device was made: who watches sees whether it gets on.
  virtual uint64_t launchesBegun() const = 0;
  /// With true, runs end as soon as they can, with whatever in their outputs; with false, no more.
  virtual void stop(bool stopped) = 0;

  // The arena, as the host reaches it (MemoryRange): from any thread, also while a run is under way
  // that touches other bytes.
  /// Whether the host may read and write it through its addresses; else it is copied.
  virtual bool hostVisible() const = 0;
  /// Whether it is memory of the system's that the host may map anew, page by page.
  virtual bool mappable() const { return false; }
  /// `from` may be written over when it returns. Launches that the device is given later, and what
  /// the host reads later, come after the copy; another device's after the next synchronize().
  virtual void copyIn(uint64_t offset, std::span<const std::byte> from) = 0;
  virtual void copyOut(uint64_t offset, std::span<std::byte> to) const = 0;
  /// Makes bytes 0.
  virtual void clear(uint64_t offset, uint64_t bytes) = 0;
  /// Whether its launches may read the other's arena: then it copies what it receives from there.
  virtual bool reaches(const Device &other) const = 0;
};

} // namespace lstmc
