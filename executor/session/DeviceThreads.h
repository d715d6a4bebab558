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

/// A thread per device, made once; the first device's is the caller's. Each waits in a parker of
/// its own, so that who announces something wakes the one that it is for.
class DeviceThreads {
public:
  /// `crowded`: more threads work for the devices than there are processors. Throws
  /// std::system_error where a thread cannot be had; those started have ended by then.
  DeviceThreads(size_t devices, bool crowded);
  ~DeviceThreads() { leave(); }
  DeviceThreads(const DeviceThreads &) = delete;
  DeviceThreads &operator=(const DeviceThreads &) = delete;

  /// Calls it for every device, on the device's thread, and returns when all have returned. It
  /// throws nothing. Allocates nothing.
  void each(const std::function<void(size_t device)> &work);

  /// On the device's thread: returns when `ready()` says true, which it is asked whenever the
  /// device is woken.
  template <typename Ready> void await(size_t device, Ready ready) {
    parkers_[device].await(ready);
  }
  /// From any thread, after every store, sequentially consistent, that its `ready` reads.
  void wake(size_t device) { parkers_[device].announce(); }

private:
  void serve(size_t device);
  void leave();

  std::deque<Parker> parkers_;     ///< by device
  std::atomic<uint64_t> round_{0}; ///< calls of each(); a new one wakes the threads
  std::atomic<size_t> working_{0}; ///< threads that are not back from it, but for the caller's
  const std::function<void(size_t)> *work_ = nullptr; ///< null: the threads end
  std::vector<std::thread> threads_;
};

} // namespace lstmc::session
