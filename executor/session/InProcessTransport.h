// Messages between devices of this process.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>

#include "executor/session/BoundEntry.h"
#include "executor/session/HostCopy.h"
#include "executor/session/Transport.h"

namespace lstmc::session {

/// The receiver copies a message directly from the sender's arena to its own with a launch if it
/// can access the sender's memory; otherwise the host copies. A staging buffer of the value's size
/// is needed only if the host sees neither memory or if a view is not dense. The devices outlive
/// it.
class InProcessTransport final : public Transport {
public:
  /// `wake(device)` is called, from any thread, when what the device waits for may have happened.
  InProcessTransport(const Devices &devices, std::function<void(size_t device)> wake)
      : devices_(devices), wake_(std::move(wake)) {}

  Result<MessageId> add(const Message &message) override;
  void begin() override;
  void post(MessageId message) override;
  bool sent(MessageId message) const override;
  bool arrived(MessageId message) const override;
  void take(MessageId message, LaunchInterval *time) override;
  PreparedProgram *copyOf(MessageId message) override { return ways_[message].launch.get(); }
  uint64_t bytes(size_t device) const override;
  bool vote(bool yes) override { return yes; }
  void abort(Error error) override;
  const std::atomic<bool> &aborted() const override { return aborted_; }
  Status status() const override;

private:
  /// `posted` and `taken` hold the number of a round, so they never need a reset.
  struct alignas(64) Way {
    size_t from, to;
    std::unique_ptr<PreparedProgram> launch; ///< null if the host copies
    std::optional<HostCopy> copy;
    std::atomic<uint64_t> posted{0}, taken{0};
  };

  const Devices &devices_;
  const std::function<void(size_t)> wake_;
  std::deque<Way> ways_;
  std::atomic<uint64_t> round_{0};
  std::atomic<bool> aborted_{false};
  mutable std::mutex mutex_;
  std::optional<Error> error_;
};

} // namespace lstmc::session
