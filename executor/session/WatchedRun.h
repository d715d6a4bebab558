// Runs an entry launch by launch on one thread, so that each launch can be observed.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "executor/base/Diagnostic.h"
#include "executor/session/BoundEntry.h"
#include "executor/session/FusedFault.h"
#include "executor/session/NonFinite.h"
#include "executor/session/Peers.h"
#include "executor/session/RemoteDevice.h"
#include "executor/session/Session.h"
#include "executor/session/Transport.h"
#include "executor/session/Watchdog.h"

namespace lstmc::session {

/// Order: for each message in turn, the sender's program up to the send, then the receiver's up to
/// the receive; then the rest of each program. So every value exists before it is taken
/// (docs/package.md has the proof). In a job each rank does this with the programs of its own
/// devices and waits for what others send.
class WatchedRun {
public:
  /// `observer` and `watchdog` may be null. With checkNan the run stops after the launch that
  /// writes the first value that is not finite; in a job it continues, because other ranks wait for
  /// later values.
  WatchedRun(const package::Package &package, const Devices &devices, Transport &transport,
             SessionObserver *observer, bool checkNan, Watchdog *watchdog = nullptr)
      : package_(package), devices_(devices), transport_(transport), observer_(observer),
        checkNan_(checkNan), watchdog_(watchdog),
        inJob_(std::ranges::any_of(devices, [](auto &device) { return isRemote(*device); })) {}

  /// False if it stopped. If several devices run the same op on their own rows, the value found is
  /// that of the first device on which it is not finite.
  bool run(const BoundEntry &entry, Part part);
  bool checksNan() const { return checkNan_; }

  /// Where it stopped, or in a job the first place found.
  Diagnostic describe(std::string_view when) const;
  /// Where that launch stands among those of all programs.
  int64_t order(const BoundEntry &entry) const;

private:
  struct Found {
    size_t program, device;
    size_t index; ///< in the package's program
    const package::Launch *launch;
    std::vector<DeviceTensor> operands;
    Finding finding;
  };

  bool carryOut(const BoundEntry &entry, Part part);
  /// Waits for the segment's message, which may still have to come from another process; false if
  /// the round is aborted.
  bool awaitArrival(MessageId message) const;
  /// Checks whether an earlier device than that of `found_` also reaches the same op without a
  /// receive before it, and finds such a value there.
  void findEarlier(const BoundEntry &entry, Part part);
  /// Runs the program's segments up to `last`.
  bool advance(const BoundEntry &entry, size_t program, size_t last);
  bool runLaunch(const BoundEntry &entry, const BoundProgram &program, const Segment &segment,
                 size_t at);
  /// The launch or transfer itself, done when it returns. False, and the round ends, if the device
  /// fails (E0803) or the op refuses an index.
  bool carryOut(const BoundEntry &entry, const BoundProgram &program, const Segment &segment,
                size_t at);

  const package::Package &package_;
  const Devices &devices_;
  Transport &transport_;
  SessionObserver *observer_;
  bool checkNan_;
  Watchdog *watchdog_; ///< may be null

  const bool inJob_;         ///< some of the devices are of other processes
  std::vector<size_t> next_; ///< by program: its next segment
  std::vector<DeviceTensor> operands_;
  std::vector<std::byte> scratch_; ///< staging for values that the host cannot see
  std::optional<Found> found_;
  FusedInputs fusedInputs_;
};

/// A value from outside that is not finite, if there is one.
std::optional<Diagnostic> explainGiven(const package::Package &package, const Devices &devices,
                                       const BoundEntry &entry, std::string_view when);

/// Runs the launches before commit again, one by one, up to the first value that is not finite.
/// With `peers`, all ranks call it, and the value is the first of all ranks.
Diagnostic explain(const package::Package &package, const Devices &devices, Transport &transport,
                   const BoundEntry &entry, std::string_view when, Peers *peers);

} // namespace lstmc::session
