// The interface to the library that moves bytes between processes.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace lstmc::ranks {

/// Two-sided messages in order between ranks. Used by one thread at a time: that which has created
/// it or, if takesAnyThread(), any. The library that implements it is loaded at run time
/// (OpenWire.h), so nothing here has a definition.
class Wire {
public:
  virtual ~Wire() = default;

  virtual int rank() const = 0;
  virtual int ranks() const = 0;
  /// On this host.
  virtual int ranksHere() const = 0;
  /// "Open MPI 4.1.4"
  virtual std::string library() const = 0;
  virtual bool takesAnyThread() const = 0;
  /// Whether all ranks are on this host and read large messages from one another's memory, so that
  /// one is through though its sender does not poll.
  virtual bool receiversPull() const = 0;

  // Begin a transfer; the bytes must not move until poll() has returned `what`. A message goes to
  // the receive of its tag that was begun first. False when the library refuses: see error().
  virtual bool send(int to, int tag, std::span<const std::byte> bytes, void *what) = 0;
  virtual bool receive(int from, int tag, std::span<std::byte> bytes, void *what) = 0;

  struct Done {
    void *what;
    size_t bytes; ///< received
  };
  /// The transfers completed since the last call: their number, or -1 with error().
  virtual int poll(std::span<Done> done) = 0;

  virtual std::string error() const = 0;

  /// Waits until all ranks have called it. Receives in flight are cancelled.
  virtual void leave() = 0;
};

/// The one function of the library: a wire among the processes that were started together, or null
/// with `error` filled.
using OpenWireFunction = Wire *(*)(std::string &error);
inline constexpr const char *kOpenWire = "lstmcOpenWire";

} // namespace lstmc::ranks
