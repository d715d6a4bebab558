// The connection between a rank and the `lstmc launch` that supervises it.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

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
///   hello TOKEN RANK PID SPACE HOST   first; SPACE: processSpace()
///   beat PROGRESS WHERE         every half second
///   end EXIT MESSAGE            last
///
/// and receives
///
///   progress NUMBER             the sum of what the others sent
///   signal NUMBER               the job is to end as it does on that signal
///   lost MESSAGE                a rank is gone, and the job with it
///   bye                         it may exit
class Control {
public:
  struct Handlers {
    std::function<Standing()> standing;
    std::function<void(uint64_t)> progress;
    std::function<void(int)> signal;
    std::function<void(const Error &)> lost; ///< also when the connection ends
  };

  /// Connects. E0801 when nothing listens at that address.
  static Result<std::unique_ptr<Control>> connect(const Place &place);
  ~Control();
  Control(const Control &) = delete;
  Control &operator=(const Control &) = delete;

  /// From now on, the handlers are called on the thread of this connection.
  void listen(Handlers handlers);
  /// Reports the exit code and message of the process, and waits for `bye`, two seconds at most.
  void end(int exit, std::string_view message);

private:
  explicit Control(int socket) : socket_(socket) {}
  void work();
  void receive(std::string_view line);
  bool sendLine(std::string line);
  Handlers handlers() const;

  const int socket_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  Handlers handlers_;
  bool released_ = false, leaving_ = false, reportedEnd_ = false;
  std::thread thread_;
};

/// Identifies the boot of the machine and the namespace of processes in which process numbers are
/// unique. One word.
std::string processSpace();

/// With line ends replaced, since a line end is the end of a message on the connection.
std::string onOneLine(std::string_view text);

} // namespace lstmc::ranks
