// The thread of a process that moves bytes between its devices and those of other processes by
// channels.
#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "executor/device/Channel.h"
#include "executor/ranks/Link.h"

namespace lstmc::ranks {

/// Owns the only thread that uses channels. It opens one after another, in the order in which they
/// were added: processes add theirs in the order of the job's messages, so none waits for another
/// in a circle. An error of a channel ends the job; when the link breaks, all channels are ended.
class Channels {
public:
  class End;

  /// A value on its way. Must not move or end between submit() and moved().
  class Move {
  public:
    virtual ~Move() = default;
    /// On the thread of the channels, when the value is at the receiver. Never once the link is
    /// broken.
    virtual void moved() = 0;

    End *end = nullptr;
    std::byte *at = nullptr;
    uint64_t bytes = 0;

  private:
    friend class Channels;
    Move *next_ = nullptr;
  };

  /// E0901 where the system gives no thread.
  static Result<std::unique_ptr<Channels>> start(Link &link);
  ~Channels();
  Channels(const Channels &) = delete;
  Channels &operator=(const Channels &) = delete;

  /// The end in this process of the channel from device `from` to device `to`: one for all their
  /// messages. `tag`: of the first one.
  End &end(ChannelMaker &here, size_t from, size_t to, bool sends, int peer, int tag);

  void submit(Move &move);
  /// Returns when moved() or completed() of somebody has set it, or false when the link is broken.
  bool await(const std::atomic<bool> &done);
  /// Something has changed elsewhere: the link has broken, perhaps.
  void wake();

private:
  explicit Channels(Link &link);
  void work();
  bool advance(End &end);
  void fail(const Error &error);

  Link &link_;
  std::vector<std::unique_ptr<End>> ends_;
  std::mutex mutex_;
  std::condition_variable changed_; ///< for the thread
  std::condition_variable moved_;   ///< for await()
  bool woken_ = false, ending_ = false;
  std::thread thread_;
};

} // namespace lstmc::ranks
