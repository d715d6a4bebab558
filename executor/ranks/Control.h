// The connection between a rank and the `lstmc launch` that supervises it.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include <ctime>

#include "executor/base/Status.h"
#include "executor/session/Peers.h"

namespace lstmc::ranks {

/// What a process learns from its environment where `lstmc launch` has started it.
struct Place {
  int rank = 0, ranks = 1;
  std::string control; ///< HOST:PORT:TOKEN; empty: not supervised
};

/// None where this process is no rank of a job. E0001 where the environment makes no sense.
Result<std::optional<Place>> placeInJob();

/// Lines of text over TCP: a word and its arguments. A rank sends
///
///   hello TOKEN RANK PID SPACE HOST   first; SPACE: hostSpace() of Host.h
///   beat PROGRESS AT WHERE      every half second; AT: Standing::At as a number
///   end EXIT JOINED MESSAGE     last; JOINED: 0 where the other ranks still wait for it to join
///
/// and receives
///
///   progress NUMBER             every half second; grows while the others get on
///   signal NUMBER               the job is to end as it does on that signal
///   lost MESSAGE                a rank is gone, and the job with it
///   stuck MESSAGE               a rank does not get on, and the job ends
///   bye                         it may exit
class Control {
public:
  struct Handlers {
    std::function<Standing()> standing;
    std::function<void(uint64_t)> progress;
    std::function<void(int)> signal;
    std::function<void(const Error &)> lost; ///< also when the connection ends, or falls silent
    std::function<void()> overdue; ///< the process has not left three seconds after it was told to
  };

  /// Connects, from the thread that does the host's part of the work: while devices do not run, its
  /// processor time is the progress. E0801 when nothing listens at that address.
  static Result<std::unique_ptr<Control>> connect(const Place &place);
  ~Control();
  Control(const Control &) = delete;
  Control &operator=(const Control &) = delete;

  /// From now on, the handlers are called on the thread of this connection.
  void listen(Handlers handlers);
  /// Reports the exit code and message of the process, and waits for `bye`, two seconds at most.
  /// `joined`: whether it had joined the other ranks.
  void end(int exit, bool joined, std::string_view message);
  /// Whether `launch` is gone, or does not reach this process any more.
  bool orphaned() const;

private:
  explicit Control(int socket) : socket_(socket) {}
  void work();
  bool beat();
  bool receiveLines(std::string &received);
  void receive(std::string_view line);
  void lose(const Error &error);
  void leaveInTime();
  bool sendLine(std::string line);
  Handlers handlers() const;

  const int socket_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  Handlers handlers_;
  bool released_ = false, leaving_ = false, reportedEnd_ = false, orphaned_ = false;
  std::chrono::steady_clock::time_point heard_ = std::chrono::steady_clock::now(); ///< of `launch`
  std::optional<std::chrono::steady_clock::time_point> leaveUntil_;                ///< after a loss
  clockid_t hostTime_{}; ///< processor time of the thread that works for the host
  std::thread thread_;
};

/// With line ends replaced, since a line end is the end of a message on the connection.
std::string onOneLine(std::string_view text);

} // namespace lstmc::ranks
