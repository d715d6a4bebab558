// How values come from one device to another.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "executor/base/Status.h"
#include "executor/device/Device.h"
#include "executor/device/DeviceTensor.h"

namespace lstmc::session {

/// A value that one device sends another, as both ends know it. Fixed when an entry is bound.
struct Message {
  size_t entry;       ///< in the package
  int64_t number;     ///< in its entry; ascending in the programs of both devices
  size_t from, to;    ///< devices
  DeviceTensor value; ///< in the sender's memory
  DeviceTensor place; ///< in the receiver's: of the same type and shape
  bool given = false; ///< the value is an input, which every process of a job has
};

/// A message that a transport knows.
using MessageId = size_t;

/// Moves messages. No function waits: who waits for arrived() or sent() sleeps, and is woken by the
/// transport whenever one of the two, or aborted(), has become true for a message of its device.
/// A part of an entry is a round; within one, a message is posted and taken once.
class Transport {
public:
  virtual ~Transport() = default;

  /// Takes all that the message will ever need, since a run allocates nothing. Before the first
  /// round. E0402 when the receiver has no kernel for it.
  virtual Result<MessageId> add(const Message &message) = 0;

  /// Another round. All devices have come back from the one before: what was posted in it and not
  /// taken is forgotten, as is its error.
  virtual void begin() = 0;

  // On the sender's thread.
  /// The value is in its place and stays there until it is sent().
  virtual void post(MessageId message) = 0;
  /// Whether the value may be written over: it was taken, or not posted in this round.
  virtual bool sent(MessageId message) const = 0;
  /// Whether all that the device has posted may be written over from outside the part.
  virtual bool drained(size_t /*device*/) const { return true; }

  // On the receiver's thread.
  virtual bool arrived(MessageId message) const = 0;
  /// Once it has arrived: puts the value where the receiver wants it. `time`, unless null, takes
  /// from when to when.
  virtual void take(MessageId message, LaunchInterval *time) = 0;

  /// Whether all processes of the job say yes; all of them come here, between two rounds.
  virtual bool vote(bool yes) = 0;

  // From any thread.
  /// Ends the round with this error, everywhere; the first one counts.
  virtual void abort(Error error) = 0;
  virtual const std::atomic<bool> &aborted() const = 0;
  /// The error of the round, if it has one.
  virtual Status status() const = 0;
};

} // namespace lstmc::session
