// The thread of a process that moves bytes between it and the other ranks.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "executor/base/Status.h"
#include "executor/ranks/Wire.h"

namespace lstmc::ranks {

/// Which conversation a message belongs to. Those of packages count from kTagMessages on.
enum Tag : int { kTagText = 1, kTagShare = 2, kTagAbort = 3, kTagMessages = 16 };

/// Bytes that are to be sent or received. Stays where it is from submit() to finished().
class Parcel {
public:
  virtual ~Parcel() = default;
  /// On the link's thread.
  virtual void finished() = 0;

  int peer = 0, tag = 0;
  bool sends = false;
  std::span<std::byte> bytes;
  size_t received = 0;

private:
  friend class Link;
  Parcel *next_ = nullptr;
  bool retired_ = false; ///< nobody is told when it is done
};

/// The only thread that touches the wire. It polls, with sleeps between that are shorter while
/// somebody waits for what it brings. An abort of any rank breaks the link for good.
class Link {
public:
  using Opener = std::function<std::unique_ptr<Wire>(std::string &error)>;

  /// Calls the opener on its thread. E0503 with what it said when it gives none; E0901.
  static Result<std::unique_ptr<Link>> open(Opener opener);
  ~Link();
  Link(const Link &) = delete;
  Link &operator=(const Link &) = delete;

  int rank() const { return rank_; }
  int ranks() const { return ranks_; }
  const std::string &library() const { return library_; }

  /// Leaves the wire with all others, unless the link is broken. Nothing is sent or received after.
  void leave();

  // From any thread.
  /// Forgotten when the link is broken.
  void submit(Parcel &parcel);
  /// Takes over parcels that may be under way, and tells nobody of them any more.
  void retire(std::vector<std::unique_ptr<Parcel>> parcels);
  /// Somebody waits: polls harder for a while.
  void hurry() { hurry_.store(true); }
  /// Breaks the link, with the error for all ranks; the first one counts.
  void abort(const Error &error);
  /// The same without telling the others.
  void breakWith(const Error &error);
  bool broken() const { return broken_.load(); }
  Status status() const;
  /// Is called once, on any thread, when the link breaks.
  void onBreak(const std::function<void(const Error &)> &f);

  // Blocking, from one thread.
  Status sendBytes(int to, int tag, std::span<std::byte> bytes);
  Status receiveBytes(int from, int tag, std::span<std::byte> bytes);
  /// Of any length.
  Status sendText(int to, std::string_view text);
  Result<std::string> receiveText(int from);

private:
  class Waited;
  class Notice;
  explicit Link(Opener opener);
  void work();
  bool start();
  bool beginQueued();
  bool poll();
  void rest(int &idle);
  void listenForAborts();
  Status carry(int peer, int tag, bool sends, std::span<std::byte> bytes);

  Opener opener_;
  std::unique_ptr<Wire> wire_; ///< of the link's thread
  int rank_ = 0, ranks_ = 1;
  std::string library_, openError_;
  std::vector<std::unique_ptr<Notice>> notices_; ///< of aborts: a receive for each other rank
  std::vector<std::unique_ptr<Notice>> told_;    ///< and a send

  std::mutex dispatch_; ///< held while parcels are told that they are done
  std::vector<std::unique_ptr<Parcel>> retiredParcels_;

  mutable std::mutex mutex_;
  std::condition_variable changed_; ///< the queue, or the end
  std::condition_variable met_;     ///< what a blocking call waits for
  Parcel *first_ = nullptr, *last_ = nullptr;
  bool opened_ = false, leaving_ = false, tells_ = false;
  int unsent_ = 0; ///< of told_
  std::optional<Error> error_;
  std::function<void(const Error &)> onBreak_;
  std::atomic<bool> hurry_{false}, broken_{false};
  std::thread thread_;
};

} // namespace lstmc::ranks
