// An entry carried out by all its devices at once.
#pragma once

#include <functional>
#include <string_view>

#include "executor/session/BoundEntry.h"
#include "executor/session/DeviceHook.h"
#include "executor/session/DeviceThreads.h"
#include "executor/session/Transport.h"
#include "executor/session/Watchdog.h"

namespace lstmc::session {

/// Each device carries its program out on its own thread, segment by segment. It posts what it
/// sends and goes on, waits for what it receives, and waits for what it has sent before it writes
/// over it. All that it is made from outlives it.
class ParallelRun {
public:
  ParallelRun(const package::Package &package, const Devices &devices, DeviceThreads &threads,
              Transport &transport, Watchdog &watchdog, DeviceHook hook);

  /// Carries a part of an entry out and returns when every device is back. When one throws (E0803,
  /// E0901) or the transport is aborted, all stop at their next segment, and the first error is the
  /// answer. Allocates nothing but errors.
  Status run(const BoundEntry &entry, Part part);

private:
  /// On the device's thread.
  void carryOut(size_t device);
  /// To the end of the part, or as far as it gets; `at` is the segment that it has come to.
  void carryOut(const BoundProgram &program, size_t &at);
  /// False, as of receive() and await(), when the round is aborted meanwhile.
  bool carryOut(const BoundProgram &program, const Segment &segment);
  /// Waits for all streams, having come to segment `at`.
  void finish(const BoundProgram &program, size_t at);
  void send(const BoundProgram &program, const Segment &segment);
  bool receive(const BoundProgram &program, const Segment &segment);
  bool await(const BoundProgram &program, const Segment &segment);
  void abort(const BoundProgram &program, size_t at, ErrorCode code, std::string_view what);

  const package::Package &package_;
  const Devices &devices_;
  DeviceThreads &threads_;
  Transport &transport_;
  Watchdog &watchdog_;
  const DeviceHook hook_;
  const std::function<void(size_t)> work_; ///< carryOut

  const BoundEntry *entry_ = nullptr; ///< of the round
  Part part_ = Part::All;
};

} // namespace lstmc::session
