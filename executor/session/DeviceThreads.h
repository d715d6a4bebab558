// The devices of a session at work side by side.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "executor/session/BoundEntry.h"
#include "executor/session/DeviceHook.h"
#include "executor/session/Parker.h"
#include "executor/session/Watchdog.h"

namespace lstmc::session {

/// A thread per device, made once; the first device's is the caller's. The sender of a message
/// offers and goes on; the receiver copies straight from the sender's place into its own; before
/// the sender writes over that place it waits until the copy is done. Both the package and the
/// devices outlive it.
class DeviceThreads {
public:
  /// Throws std::system_error where a thread cannot be had; those started have ended by then.
  DeviceThreads(const package::Package &package, const Devices &devices,
                std::chrono::milliseconds deadline, DeviceHook hook);
  ~DeviceThreads();
  DeviceThreads(const DeviceThreads &) = delete;
  DeviceThreads &operator=(const DeviceThreads &) = delete;

  /// Carries a part of an entry out and returns when every device is back. When one waits longer
  /// than the deadline (E0802) or throws (E0803, E0901), all stop at their next segment, and the
  /// first error is the answer. Allocates nothing but errors.
  Status run(BoundEntry &entry, Part part);
  /// Calls it for every device, on the device's thread.
  Status each(const std::function<void(size_t device)> &work);

  /// Ends the run under way with this error, if it has none yet. From any thread.
  void stop(Error error);
  /// Launches are its to judge from now on: while one is under way, no wait is too long. Outlives
  /// this; to be called before the first run.
  void setWatchdog(Watchdog &watchdog) { watchdog_ = &watchdog; }

private:
  static constexpr size_t kNotBegun = SIZE_MAX;

  struct alignas(64) DeviceState {
    std::atomic<uint64_t> finished{0}; ///< round
    std::atomic<size_t> segment{kNotBegun};
    std::atomic<uint64_t> progress{0}; ///< segments begun and rounds finished, ever
    std::atomic<bool> waits{false};    ///< for another device's message
  };

  void leave();
  Status round(BoundEntry *entry, Part part, const std::function<void(size_t)> *work);
  void serve(size_t device);
  /// The device's program in the entry, if it has one.
  const BoundProgram *programOf(size_t device) const;
  void carryOut(size_t device);
  void carryOut(const BoundProgram &program);
  /// Receive: waits until it is offered; Await: until it is taken. False when all stop.
  bool await(const BoundProgram &program, const Segment &segment, Message &message);
  void finish(size_t device, uint64_t round);
  void announceToAll();
  size_t deviceOf(MessageEnd end) const { return entry_->programs[end.program].device; }
  bool allBack() const;
  /// In the device's parker: waits as long as any device gets on, and a deadline longer; and two
  /// more while who is waited for is `blocked` itself, since the one that it waits for is to blame.
  /// False when it is too long.
  template <typename Ready, typename Blocked>
  bool awaitWhileProgress(size_t device, Ready ready, Blocked blocked);
  uint64_t progress() const;
  /// One that has not come to its end, if there is one rather one that does not wait.
  const BoundProgram *unfinished() const;

  /// Keeps the first error and stops all.
  void stopLocked(Error error);
  void stopLate(const BoundProgram &program, const Segment &segment, const Message &message);
  void stopUnfinished();
  /// The first device does not come to its end, and `waiting` has nothing else to do.
  void stopFirst(size_t waiting, uint64_t round);
  Error lateEnd(size_t waiting, const BoundProgram &program) const;
  void stopThrown(const BoundProgram &program, ErrorCode code, std::string_view what);

  /// "launch 4 of step, fc (FullyConnected)"
  std::string segmentText(const BoundProgram &program, const Segment &segment) const;
  /// "cpu:1 was at launch 4 of step, fc (FullyConnected)"
  std::string whereabouts(const BoundProgram &program) const;
  Place placeOf(const BoundProgram &program, const Segment &segment) const;
  const std::string &nameOf(const BoundProgram &program) const {
    return devices_[program.device]->name();
  }

  const package::Package &package_;
  const Devices &devices_;
  const std::chrono::milliseconds deadline_;
  const DeviceHook hook_;
  Watchdog *watchdog_ = nullptr;

  std::deque<Parker> parkers_;     ///< by device: a message wakes the one that it is for
  std::atomic<uint64_t> round_{0}; ///< of all parts of all runs; a new one wakes the threads
  std::atomic<bool> stopped_{false};
  bool leaving_ = false;
  BoundEntry *entry_ = nullptr; ///< of a run
  Part part_ = Part::All;
  const std::function<void(size_t)> *work_ = nullptr; ///< of each()

  std::mutex errorMutex_;
  std::optional<Error> error_;

  std::vector<DeviceState> states_;
  std::vector<std::thread> threads_;
};

} // namespace lstmc::session
