// Runs an entry on all its devices at once.
#pragma once

#include <functional>
#include <string_view>

#include "executor/session/BoundEntry.h"
#include "executor/session/DeviceHook.h"
#include "executor/session/DeviceThreads.h"
#include "executor/session/Transport.h"
#include "executor/session/Watchdog.h"

namespace lstmc::session {

/// Devices that share graphs are given an entry by the caller's thread (SharedGraph.h). Else each
/// device runs its program on its own thread, segment by segment. It posts what it sends and
/// continues, waits for what it receives, and waits until a sent value has been taken before it
/// overwrites it. The constructor's arguments outlive it.
class ParallelRun {
public:
  ParallelRun(const package::Package &package, const Devices &devices, DeviceThreads &threads,
              Transport &transport, Watchdog &watchdog, DeviceHook hook);

  /// Runs a part of an entry and returns when every device has finished. If one throws (E0803,
  /// E0901) or the transport is aborted, all stop at their next segment and the first error is
  /// returned. Allocates only errors. `meanwhile` is called, unless null, on the first device's
  /// thread, once that has given all its launches to the device.
  Status run(const BoundEntry &entry, Part part, const std::function<void()> *meanwhile = nullptr);

private:
  /// By this thread, as graphs that the devices share.
  Status runShared(const BoundEntry &entry, Part part, const std::function<void()> *meanwhile);
  /// On the device's thread.
  void carryOut(size_t device);
  /// Runs to the end of the part or to an error; `at` is the current segment.
  void carryOut(const BoundProgram &program, size_t &at);
  /// Like receive() and await(), returns false if the round is aborted meanwhile.
  bool carryOut(const BoundProgram &program, const Segment &segment);
  /// False, and the round ends, if an op refuses an index.
  bool checkIndices(const BoundProgram &program, const Segment &segment);
  /// Waits for all streams before segment `at`.
  void finish(const BoundProgram &program, size_t at);
  /// What `work` throws ends the round; `where` tells the program and the segment where it was
  /// then.
  template <typename Where, typename Work> void guarded(Where where, Work work);
  void send(const BoundProgram &program, const Segment &segment);
  bool receive(const BoundProgram &program, const Segment &segment);
  bool await(const BoundProgram &program, const Segment &segment);
  /// Until it is ready or the run has ended.
  template <typename Ready> void await(size_t device, Ready ready) {
    threads_.await(
        device, [&] { return ready() || transport_.aborted().load(); },
        [&, looks = 0]() mutable { return transport_.help(looks); });
  }
  void abort(const BoundProgram &program, size_t at, ErrorCode code, std::string_view what);

  const package::Package &package_;
  const Devices &devices_;
  DeviceThreads &threads_;
  Transport &transport_;
  Watchdog &watchdog_;
  const DeviceHook hook_;
  const std::function<void(size_t)> work_; ///< carryOut

  const BoundEntry *entry_ = nullptr; ///< of the current round
  Part part_ = Part::All;
  const std::function<void()> *meanwhile_ = nullptr;
};

} // namespace lstmc::session
