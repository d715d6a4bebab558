// The connection of a rank with who has started it and watches over it.
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
  std::string control; ///< HOST:PORT:TOKEN; empty: nobody watches
};

/// None where this process is no rank of a job. E0001 where the environment makes no sense.
Result<std::optional<Place>> placeInJob();

/// Lines of text over TCP, a word and what it is about. A rank says
///
///   hello TOKEN RANK PID SPACE HOST   first; SPACE: processSpace()
///   beat PROGRESS WHERE         every half second
///   end EXIT MESSAGE            last
///
/// and hears
///
///   progress NUMBER             the sum of what the others said
///   signal NUMBER               the job is to end as it does on that signal
///   lost MESSAGE                a rank is gone, and the job with it
///   bye                         it may go
class Control {
public:
  struct Hearer {
    std::function<Standing()> standing;
    std::function<void(uint64_t)> progress;
    std::function<void(int)> signal;
    std::function<void(const Error &)> lost; ///< also when the connection ends
  };

  /// Connects. E0801 when nobody answers at that address.
  static Result<std::unique_ptr<Control>> connect(const Place &place);
  ~Control();
  Control(const Control &) = delete;
  Control &operator=(const Control &) = delete;

  /// From then on, calls it from a thread of its own, which is there already.
  void listen(Hearer hearer);
  /// Says with what the process ends, and waits for leave to go, for two seconds at most.
  void end(int exit, std::string_view message);

private:
  explicit Control(int socket) : socket_(socket) {}
  void work();
  void hear(std::string_view line);
  bool say(std::string line);
  Hearer hearer() const;

  const int socket_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  Hearer hearer_;
  bool mayGo_ = false, leaving_ = false, ended_ = false;
  std::thread thread_;
};

/// In what the number of a process has its meaning: a boot of a machine, and a namespace of its
/// processes. One word.
std::string processSpace();

/// Without line ends, which end a line of the connection.
std::string onOneLine(std::string_view text);

} // namespace lstmc::ranks
