// This process as one rank of a job.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "executor/ranks/Link.h"
#include "executor/session/Peers.h"

namespace lstmc::ranks {

/// Ranks have devices in order (rankOfDevice()).
class Job final : public Peers {
public:
  /// `signal`: the number of the signal by which this process was asked to end, or 0.
  Job(std::unique_ptr<Link> link, std::function<int()> signal);

  int rank() const override { return link_->rank(); }
  int ranks() const override { return link_->ranks(); }
  int rankOf(size_t device, size_t devices) const override;
  bool readOneAnother() const override { return link_->receiversPull(); }
  const std::string &library() const { return link_->library(); }

  /// For messages besides those of a package; to be used by the thread that calls gather().
  Link &link() { return *link_; }

  /// Waits for all others to leave too, unless the link is broken.
  void leave() { link_->leave(); }

  std::unique_ptr<session::Transport> transport(const package::Package &package,
                                                const session::Devices &devices,
                                                std::function<void(size_t device)> wake) override;
  Result<std::vector<std::string>> gather(std::string_view mine) override;
  bool vote(bool yes) override;
  Status share(std::span<const SharedRange> ranges, size_t devices, Receivers to) override;
  int signal() const override { return signal_; }

  void watch(std::function<Standing()> standing) override;
  uint64_t progressElsewhere() const override { return progressElsewhere_.load(); }

  // From any thread, for the connection with `lstmc launch`.
  Standing standing() const;
  /// How long this rank waits for another one while none gets on.
  void bePatient(std::chrono::milliseconds patience) {
    link_->bePatient(patience, [this] { return progressElsewhere_.load(); });
  }
  void otherRanksAreAt(uint64_t progress) { progressElsewhere_.store(progress); }
  /// This process cannot continue: ends the job in all ranks.
  void abort(const Error &error) { link_->abort(error); }
  /// The job has failed, and the other ranks know already.
  void breakWith(const Error &error) { link_->breakWith(error); }

private:
  std::unique_ptr<Link> link_;
  const std::function<int()> pendingSignal_;
  int signal_ = 0;
  std::atomic<uint64_t> progressElsewhere_{0};
  mutable std::mutex mutex_;
  std::function<Standing()> standing_;
};

} // namespace lstmc::ranks
