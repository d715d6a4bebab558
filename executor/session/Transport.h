// How values come from one device to another.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "executor/base/Status.h"
#include "executor/device/Device.h"
#include "executor/device/DeviceTensor.h"

namespace lstmc::session {

/// A value that one device sends to another. Fixed when an entry is bound.
struct Message {
  size_t entry;       ///< index in the package
  int64_t number;     ///< within its entry; sends ascend in a program, and receives
  size_t from, to;    ///< devices
  DeviceTensor value; ///< in the memory of the sender
  DeviceTensor place; ///< in that of the receiver, with the same type and shape
  bool given = false; ///< whether the value is an input, which every process of a job has
};

/// Identifies a message within a transport.
using MessageId = size_t;

/// Moves messages between devices. Only vote() waits. A thread that waits for arrived() or sent()
/// sleeps, between calls of help() if that is of use; the transport wakes it whenever one of them,
/// or aborted(), has become true for a message of its device. A part of an entry is a round, in
/// which each message is posted and taken once.
class Transport {
public:
  virtual ~Transport() = default;

  /// Registers a message before the first round and allocates everything it needs, since a run
  /// allocates nothing. E0402 if the receiver has no kernel for it.
  virtual Result<MessageId> add(const Message &message) = 0;

  /// Begins a round. All devices have finished the previous one; its messages that were not taken,
  /// and its error, are discarded.
  virtual void begin() = 0;

  // On the sender's thread.
  /// The value is complete and remains unchanged until sent().
  virtual void post(MessageId message) = 0;
  /// Whether the value may be overwritten: it was taken, or not posted in this round.
  virtual bool sent(MessageId message) const = 0;
  /// Whether all values that the device has posted may be overwritten after the part.
  virtual bool drained(size_t /*device*/) const { return true; }

  // On the receiver's thread.
  virtual bool arrived(MessageId message) const = 0;
  /// Does some of what a thread waits for, and returns how long that may sleep before it asks
  /// again; none where it is of no use. `looks`: how often this wait has asked, counted here.
  virtual std::optional<std::chrono::nanoseconds> help(int & /*looks*/) { return std::nullopt; }
  /// Called once the message has arrived: copies the value to the receiver's place. `time`, unless
  /// null, receives begin and end.
  virtual void take(MessageId message, LaunchInterval *time) = 0;

  /// What copies the message on its receiver, which reads where the sender has it; null if the host
  /// has a part in that.
  virtual PreparedProgram *copyOf(MessageId /*message*/) { return nullptr; }

  /// What it holds of the host's memory for the messages of this device (package::messageBytes()).
  virtual uint64_t bytes(size_t /*device*/) const { return 0; }

  /// Whether all processes of the job vote yes. All of them call it, between two rounds.
  virtual bool vote(bool yes) = 0;

  // From any thread.
  /// Ends the round in all processes with this error; the first error is kept.
  virtual void abort(Error error) = 0;
  virtual const std::atomic<bool> &aborted() const = 0;
  /// The error of the round, if there is one.
  virtual Status status() const = 0;
};

} // namespace lstmc::session
