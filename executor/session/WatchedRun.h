// An entry carried out launch by launch on one thread, for those who look on.
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

/// Order: message by message, the sender's program up to its end, then the receiver's up to its;
/// then what is left of each program. So every value is there before it is taken
/// (executor/package/README.md says why).
class WatchedRun {
public:
  /// `observer` and `watchdog` may be null. With checkNan it stops after the launch that writes
  /// the first value that is not finite.
  WatchedRun(const package::Package &package, const Devices &devices, Transport &transport,
             SessionObserver *observer, bool checkNan, Watchdog *watchdog = nullptr)
      : package_(package), devices_(devices), transport_(transport), observer_(observer),
        checkNan_(checkNan), watchdog_(watchdog) {}

  /// False when it stopped. Where several devices do the same op for rows of their own, the first
  /// of those in which it goes wrong is what is found.
  bool run(const BoundEntry &entry, Part part);

  /// What it stopped at.
  Diagnostic describe(std::string_view when) const;

private:
  struct Found {
    size_t program, device;
    const package::Launch *launch;
    std::vector<DeviceTensor> operands;
    Finding finding;
  };

  bool carryOut(const BoundEntry &entry, Part part);
  /// Looks whether a device before the one of `found_` comes to the same op, with nothing that it
  /// has to receive first, and finds a value there too.
  void findEarlier(const BoundEntry &entry, Part part);
  /// The program's segments up to `last`.
  bool advance(const BoundEntry &entry, size_t program, size_t last);
  bool runLaunch(const BoundEntry &entry, const BoundProgram &program, const Segment &segment,
                 size_t at);

  const package::Package &package_;
  const Devices &devices_;
  Transport &transport_;
  SessionObserver *observer_;
  bool checkNan_;
  Watchdog *watchdog_; ///< null: nobody

  std::vector<size_t> next_; ///< by program: its next segment
  std::vector<DeviceTensor> operands_;
  std::vector<std::byte> scratch_; ///< values that the host cannot see where they are
  std::optional<Found> found_;
};

/// A value that came from outside and is not finite, if there is one.
std::optional<Diagnostic> explainGiven(const package::Package &package, const Devices &devices,
                                       const BoundEntry &entry, std::string_view when);

/// Runs what comes before commit again, launch by launch, to the first value that is not finite.
Diagnostic explain(const package::Package &package, const Devices &devices, Transport &transport,
                   const BoundEntry &entry, std::string_view when);

} // namespace lstmc::session
