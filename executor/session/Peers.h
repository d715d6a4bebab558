// The other processes of a job, as a session sees them.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "executor/base/Status.h"
#include "executor/device/MemoryRange.h"
#include "executor/package/Package.h"
#include "executor/session/BoundEntry.h"
#include "executor/session/Transport.h"

namespace lstmc {

/// Bytes of a device of some process: there the bytes themselves, elsewhere in the device's mirror.
struct SharedRange {
  size_t device;
  MemoryRange range;
};

/// Who gets what a process shares.
enum class Receivers : uint8_t { First, All };

/// How far a process has come.
struct Standing {
  uint64_t progress = 0; ///< another number means that it gets on
  std::string place;     ///< "cpu:1 was at launch 4 of step, fc (FullyConnected)"; empty: in no run
};

/// The processes of a job open the same package, and each works for some of its devices. All make
/// the same calls of their sessions in the same order. Used by the session's thread, unless said
/// otherwise.
class Peers {
public:
  virtual ~Peers() = default;

  virtual int rank() const = 0;
  virtual int ranks() const = 0;
  /// Whose the device is, of so many.
  virtual int rankOf(size_t device, size_t devices) const = 0;

  /// For the messages of a session, those between devices of this process included.
  virtual std::unique_ptr<session::Transport>
  transport(const package::Package &package, const session::Devices &devices,
            std::function<void(size_t device)> wake) = 0;

  // All processes come here, each with the same kind of call. E0801 when the job has fallen apart.
  /// What each of them says, by rank.
  virtual Result<std::vector<std::string>> gather(std::string_view mine) = 0;
  /// Whether all of them say yes.
  virtual bool vote(bool yes) = 0;
  /// Sends the bytes from the process that has the device to the others, or to rank 0 alone.
  virtual Status share(std::span<const SharedRange> ranges, size_t devices, Receivers to) = 0;

  /// The signal that one of them was asked to end with, as of the last vote, or 0; the same in all.
  virtual int signal() const = 0;

  // From any thread.
  /// Who asks how far this process has come, until it is called with nobody.
  virtual void watch(std::function<Standing()> standing) = 0;
  /// Grows while some other process gets on.
  virtual uint64_t progressElsewhere() const = 0;
};

/// E0804 where a process says something else than the others, naming it and both values. All come
/// here.
Status agree(Peers &peers, std::string_view what, std::string_view value);

} // namespace lstmc
