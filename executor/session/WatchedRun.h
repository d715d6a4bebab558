// Runs an entry launch by launch on one thread, so that each launch can be observed.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "executor/base/Diagnostic.h"
#include "executor/session/BoundEntry.h"
#include "executor/session/NonFinite.h"
#include "executor/session/Session.h"
#include "executor/session/Transport.h"
#include "executor/session/Watchdog.h"

namespace lstmc::session {

/// Order: for each message in turn, the sender's program up to the send, then the receiver's up to
/// the receive; then the rest of each program. So every value exists before it is taken
/// (executor/package/README.md says why).
class WatchedRun {
public:
  /// `observer` and `watchdog` may be null. With checkNan the run stops after the launch that
  /// writes the first value that is not finite.
  WatchedRun(const package::Package &package, const Devices &devices, Transport &transport,
             SessionObserver *observer, bool checkNan, Watchdog *watchdog = nullptr)
      : package_(package), devices_(devices), transport_(transport), observer_(observer),
        checkNan_(checkNan), watchdog_(watchdog) {}

  /// False if it stopped. If several devices run the same op on their own rows, the value found is
  /// that of the first device on which it is not finite.
  bool run(const BoundEntry &entry, Part part);

  /// Where it stopped.
  Diagnostic describe(std::string_view when) const;

private:
  struct Found {
    size_t program, device;
    const package::Launch *launch;
    std::vector<DeviceTensor> operands;
    Finding finding;
  };

  bool carryOut(const BoundEntry &entry, Part part);
  /// Checks whether an earlier device than that of `found_` also reaches the same op without a
  /// receive before it, and finds such a value there.
  void findEarlier(const BoundEntry &entry, Part part);
  /// Runs the program's segments up to `last`.
  bool advance(const BoundEntry &entry, size_t program, size_t last);
  bool runLaunch(const BoundEntry &entry, const BoundProgram &program, const Segment &segment,
                 size_t at);

  const package::Package &package_;
  const Devices &devices_;
  Transport &transport_;
  SessionObserver *observer_;
  bool checkNan_;
  Watchdog *watchdog_; ///< may be null

  std::vector<size_t> next_; ///< by program: its next segment
  std::vector<DeviceTensor> operands_;
  std::vector<std::byte> scratch_; ///< staging for values that the host cannot see
  std::optional<Found> found_;
};

/// A value from outside that is not finite, if there is one.
std::optional<Diagnostic> explainGiven(const package::Package &package, const Devices &devices,
                                       const BoundEntry &entry, std::string_view when);

/// Runs the launches before commit again, one by one, up to the first value that is not finite.
Diagnostic explain(const package::Package &package, const Devices &devices, Transport &transport,
                   const BoundEntry &entry, std::string_view when);

} // namespace lstmc::session
