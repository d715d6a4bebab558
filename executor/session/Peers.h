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

/// Bytes of a device: in its own process the bytes themselves, in others those of its mirror.
struct SharedRange {
  size_t device;
  MemoryRange range;
};

/// The receivers of what a process shares: rank 0, or all.
enum class Receivers : uint8_t { First, All };

/// The progress of a process.
struct Standing {
  /// What a process is at: the host's part between runs (data, validation, checkpoints), a run of
  /// its devices, or nothing itself, since all that it has to do waits for other processes.
  enum class At : uint8_t { Host, Run, Wait };

  uint64_t progress = 0; ///< changes while devices and messages make progress
  /// "cpu:1 was at launch 4 of step, fc (FullyConnected), at net.lnet:7"; empty: in no run
  std::string place;
  At at = At::Host;
};

/// The processes of a job open the same package, and each works for some of its devices. All make
/// the same calls of their sessions in the same order. Used by the session's thread, unless said
/// otherwise.
class Peers {
public:
  virtual ~Peers() = default;

  virtual int rank() const = 0;
  virtual int ranks() const = 0;
  /// The rank that has the device, of `devices` in all.
  virtual int rankOf(size_t device, size_t devices) const = 0;

  /// For the messages of a session, those between devices of this process included.
  virtual std::unique_ptr<session::Transport>
  transport(const package::Package &package, const session::Devices &devices,
            std::function<void(size_t device)> wake) = 0;

  /// Whether all of them are on one host and may read one another's memory.
  virtual bool readOneAnother() const { return false; }

  // All processes must make the same calls in the same order. E0801 when the job has failed.
  /// The texts of all processes, by rank.
  virtual Result<std::vector<std::string>> gather(std::string_view mine) = 0;
  /// Whether all of them vote yes.
  virtual bool vote(bool yes) = 0;
  /// Sends the bytes from the process that has the device to the others, or to rank 0 alone.
  virtual Status share(std::span<const SharedRange> ranges, size_t devices, Receivers to) = 0;

  /// The signal that one of them was asked to end with, as of the last vote, or 0; the same in all.
  virtual int signal() const = 0;

  // From any thread.
  /// Sets the function that reports the progress of this process; an empty one removes it.
  virtual void watch(std::function<Standing()> standing) = 0;
  /// Grows while another process makes progress.
  virtual uint64_t progressElsewhere() const = 0;
};

/// E0804 where the value of a process differs from the others', naming it and both values. All
/// processes must call it.
Status agree(Peers &peers, std::string_view what, std::string_view value);

} // namespace lstmc
