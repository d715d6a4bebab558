// Messages between devices of several processes.
#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "executor/package/Package.h"
#include "executor/ranks/Channels.h"
#include "executor/ranks/Messages.h"
#include "executor/session/InProcessTransport.h"
#include "executor/session/Peers.h"

namespace lstmc::ranks {

/// Messages between devices of this process go from arena to arena. Those between processes go by
/// channels where their devices have them and both values are dense (ChannelMessages.h); where
/// processes may read one another's memory, large dense values of the host's go so
/// (PulledMessages.h); all others by way of buffers of the host (StagedMessages.h). What every
/// process has, an input, is taken from the mirror of its device. An error ends the job: no run
/// follows it.
class RankTransport final : public session::Transport {
public:
  /// Package, devices, peers and link outlive it.
  RankTransport(const package::Package &package, const session::Devices &devices, Peers &peers,
                Link &link, std::function<void(size_t device)> wake);
  ~RankTransport() override;

  Result<session::MessageId> add(const session::Message &message) override;
  void begin() override;
  void post(session::MessageId message) override;
  bool sent(session::MessageId message) const override;
  bool drained(size_t device) const override;
  bool arrived(session::MessageId message) const override;
  std::optional<std::chrono::nanoseconds> help(int &looks) override { return link_.help(looks); }
  void take(session::MessageId message, LaunchInterval *time) override;
  uint64_t bytes(size_t device) const override;
  bool vote(bool yes) override { return peers_.vote(yes); }
  void abort(Error error) override;
  const std::atomic<bool> &aborted() const override { return here_.aborted(); }
  Status status() const override;

private:
  enum class Kind : uint8_t { Here, Given, Outgoing, Incoming, Elsewhere };
  struct Way {
    Kind kind;
    session::MessageId here = 0; ///< as the transport of this process knows it
    Outgoing *outgoing = nullptr;
    Incoming *incoming = nullptr;
    size_t entry = 0, from = 0;
    int64_t number = 0;
  };

  Header headerOf(const session::Message &message) const;
  ChannelMaker *channelMaker(const session::Message &message) const;
  bool isPulled(const session::Message &message) const;
  Status startChannels();
  uint64_t &sequence(size_t from, size_t to) { return sequences_[from * devices_.size() + to]; }
  /// "message 12 of step, fc (FullyConnected)", and where that is in the source.
  std::string opText(size_t message) const;
  Place placeOf(size_t message) const;
  const package::Launch *launchOf(const Way &way) const;
  void refuse(size_t message, Incoming &incoming, const std::string &difference);

  const package::Package &package_;
  const session::Devices &devices_;
  Peers &peers_;
  Link &link_;
  const std::function<void(size_t)> wake_;
  session::InProcessTransport here_;
  std::mutex channelsMutex_;
  std::unique_ptr<Channels> channels_; ///< null until a message needs them
  std::deque<Way> ways_;
  std::vector<std::unique_ptr<Outgoing>> outgoing_;
  std::vector<std::unique_ptr<Incoming>> incoming_;
  std::vector<uint64_t> sequences_; ///< messages so far, by sender and receiver
};

} // namespace lstmc::ranks
