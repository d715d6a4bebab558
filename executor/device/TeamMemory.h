// Gives workers their memory.
#pragma once

#include <new>
#include <utility>
#include <vector>

#include "executor/base/Arena.h"
#include "executor/device/WorkerMemory.h"

namespace lstmc {

/// kWorkerBytes for each of some workers, between guard pages. Pages that no kernel uses take no
/// memory.
class TeamMemory {
public:
  /// Throws std::bad_alloc where the system has none.
  explicit TeamMemory(int workers) : all_(size_t(workers)) {
    for (Arena &each : all_)
      if (!each.allocate(kWorkerBytes, "a worker").ok())
        throw std::bad_alloc();
  }
  std::byte *of(int worker) const { return all_[size_t(worker)].data(); }

private:
  std::vector<Arena> all_;
};

/// While it lives, the thread is a worker with that memory.
class WithWorkerMemory {
public:
  explicit WithWorkerMemory(const TeamMemory &memory, int worker = 0)
      : before_(std::exchange(workerMemory, memory.of(worker))) {}
  ~WithWorkerMemory() { workerMemory = before_; }
  WithWorkerMemory(const WithWorkerMemory &) = delete;
  WithWorkerMemory &operator=(const WithWorkerMemory &) = delete;

private:
  std::byte *before_;
};

} // namespace lstmc
