// MPI progress engine of a rank: a polling thread; waiting threads may poll too.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "executor/base/Status.h"
#include "executor/ranks/Bell.h"
#include "executor/ranks/Wire.h"

namespace lstmc::ranks {

/// What a message is for. The messages of packages are numbered from kTagMessages on.
enum Tag : int {
  kTagText = 1,
  kTagShare = 2,
  kTagAbort = 3,
  kTagQuestion = 4, ///< of executor/stores, as the next
  kTagAnswer = 5,
  kTagMessages = 16,
  kTagChannels = 1 << 30 ///< and the tag of a message: the id of the channel that it is first on
};

/// A send or a receive. Must not move between submit() and completed().
class Request {
public:
  virtual ~Request() = default;
  /// On the thread that has found it so: the link's, or one that helps.
  virtual void completed() = 0;

  int peer = 0, tag = 0;
  bool sends = false;
  std::span<std::byte> bytes;
  size_t received = 0;

private:
  friend class Link;
  Request *next_ = nullptr;
  bool detached_ = false; ///< completed() is not called
};

/// Has a thread that polls the wire; the pauses between polls are shorter while another thread
/// waits for a message. Where the wire takes any thread, one that waits polls for itself, and one
/// that submits begins the transfer itself, so that neither waits until the link's thread gets a
/// processor; one thread at a time has the wire. An abort of any rank breaks the link for good.
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

  /// Leaves the wire together with all others, unless the link is broken. No request may follow.
  void leave();

  // From any thread.
  /// Dropped when the link is broken.
  void submit(Request &request);
  /// Takes ownership of requests that may be in flight; completed() is no longer called.
  void detach(std::vector<std::unique_ptr<Request>> requests);
  /// A thread waits for a message until waitsNoMore(): pauses are short for a while.
  void waits();
  void waitsNoMore() { --waiting_; }
  /// Whether threads that wait may help; else they say so by waits().
  bool takesHelp() const { return takesHelp_; }
  /// As Wire has it.
  bool receiversPull() const { return receiversPull_; }
  /// Polls for a thread that waits, and returns how long that is to rest before the next time; none
  /// where the link's thread has to do it. `looks`: 0 at first.
  std::optional<std::chrono::nanoseconds> help(int &looks);
  /// Breaks the link and sends the error to all ranks; only the first error counts.
  void abort(const Error &error);
  /// Breaks the link without sending the error to the others.
  void breakWith(const Error &error);
  bool broken() const { return broken_.load(); }
  Status status() const;
  /// f is called once, on any thread, when the link breaks.
  void onBreak(const std::function<void(const Error &)> &f);

  /// How long calls that block wait for another rank while `elsewhere` stays as it is; then the
  /// link breaks with E0802, which names that rank. To be set before they are used.
  void bePatient(std::chrono::milliseconds patience, std::function<uint64_t()> elsewhere);
  /// The rank that a call which blocks waits for, or none; and how many transfers have completed.
  /// From any thread.
  std::optional<int> blockedBy() const;
  uint64_t transfers() const { return transfers_.load(); }

  // Blocking, from one thread.
  Status sendBytes(int to, int tag, std::span<std::byte> bytes);
  Status receiveBytes(int from, int tag, std::span<std::byte> bytes);
  /// Of any length.
  Status sendText(int to, std::string_view text);
  Result<std::string> receiveText(int from);

private:
  class BlockingRequest;
  class AbortRequest;
  explicit Link(Opener opener);
  void work();
  bool start();
  bool drive();
  bool beginQueued();
  bool poll();
  std::chrono::microseconds pauseAfter(int idle, bool awaited) const;
  void pause(int &idle);
  void pollOften();
  void receiveAborts();
  Status transfer(int peer, int tag, bool sends, std::span<std::byte> bytes);
  void waitFor(BlockingRequest &request);

  Opener opener_;
  std::mutex wireMutex_; ///< of who uses the wire
  std::unique_ptr<Wire> wire_;
  std::atomic<std::thread::id> driver_{}; ///< who has it
  bool takesHelp_ = false, receiversPull_ = false;
  int rank_ = 0, ranks_ = 1;
  std::string library_, openError_;
  std::vector<std::unique_ptr<AbortRequest>> abortReceives_; ///< one for each other rank
  std::vector<std::unique_ptr<AbortRequest>> abortSends_;    ///< one for each other rank

  std::mutex dispatch_; ///< held while completed() is called
  std::vector<std::unique_ptr<Request>> detachedRequests_;

  mutable std::mutex mutex_;
  Bell changed_;                              ///< the queue, leaving_ or pollOften_
  std::condition_variable completedOrBroken_; ///< for calls that block
  Request *first_ = nullptr, *last_ = nullptr;
  bool opened_ = false, leaving_ = false, mustSendAbort_ = false;
  std::atomic<int> unsentAborts_{0}; ///< of abortSends_
  std::atomic<int> sending_{0};      ///< sends in flight
  int crowd_ = 1;                    ///< ranks of this host for each of its processors
  int mostDoubled_;                  ///< how far pauses grow
  int mostDoubledWhileSending_ = 0;  ///< how far then
  std::atomic<int> waiting_{0};      ///< threads that wait
  std::optional<Error> error_;
  std::function<void(const Error &)> onBreak_;
  std::atomic<bool> pollOften_{false}, broken_{false};
  std::atomic<bool> resting_{false}; ///< in a long pause
  std::atomic<int> blockedBy_{-1};
  std::atomic<uint64_t> transfers_{0};
  std::chrono::milliseconds patience_ = std::chrono::minutes(10);
  std::function<uint64_t()> elsewhere_; ///< none: no other rank tells how far it is
  std::thread thread_;
};

} // namespace lstmc::ranks
