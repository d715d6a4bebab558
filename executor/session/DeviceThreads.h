// The threads of a session's devices.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <thread>
#include <vector>

#include "executor/session/Parker.h"

namespace lstmc::session {

/// One thread per device of this process, started once; the first device uses the caller's thread.
/// Each thread has its own parker, so that an announcement wakes only the thread that it concerns.
class DeviceThreads {
public:
  /// `here`: the devices of this process, out of `devices` in all. Throws std::system_error if a
  /// thread cannot be started, after those already started have ended.
  DeviceThreads(std::vector<size_t> here, size_t devices, Parker::Crowd crowd);
  ~DeviceThreads() { leave(); }
  DeviceThreads(const DeviceThreads &) = delete;
  DeviceThreads &operator=(const DeviceThreads &) = delete;

  /// Calls `work`, which must not throw, for every device on the device's thread, and returns when
  /// all calls have returned. Allocates nothing.
  void each(const std::function<void(size_t device)> &work);

  /// Called on the device's thread: returns once `ready()` is true. It is evaluated whenever the
  /// device is woken, and after each `help()` (Parker).
  template <typename Ready, typename Help> void await(size_t device, Ready ready, Help help) {
    parkers_[device].awaitHelping(ready, help);
  }
  /// Called from any thread after each sequentially consistent store that the `ready` of the device
  /// reads.
  void wake(size_t device) { parkers_[device].announce(); }

private:
  void serve(size_t device);
  void leave();

  const std::vector<size_t> here_;
  std::deque<Parker> parkers_;     ///< by device
  std::atomic<uint64_t> round_{0}; ///< number of calls of each(); an increase wakes the threads
  std::atomic<size_t> working_{0}; ///< threads still in it, without the caller's
  const std::function<void(size_t)> *work_ = nullptr; ///< null: the threads end
  std::vector<std::thread> threads_;
};

} // namespace lstmc::session
