// What mpirun writes to its stdout and stderr, on the way to this process's.
#pragma once

#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <string_view>

#include "executor/base/Status.h"

namespace lstmc::launch {

/// A thread of its own writes it, so that ranks are watched while a reader is slow. Each piece is
/// written as it comes, by writeOutput() and writeMessage(): outputStatus() has what became of it.
/// What cannot be written is dropped, and the job goes on; mpirun would end it. With a `sink`, what
/// comes from stdout goes there in place of writeOutput().
class ForwardedOutput {
public:
  /// Takes the reading ends of two pipes. E0901.
  static Result<ForwardedOutput> start(int output, int messages,
                                       std::function<void(std::string_view)> sink = {});
  ForwardedOutput(ForwardedOutput &&) = default;
  ForwardedOutput &operator=(ForwardedOutput &&) = delete;
  /// What has not been written by then is lost.
  ~ForwardedOutput();

  /// Whether a reader is being waited for.
  bool isWriting() const;
  /// To be called once mpirun has ended. Returns whether all is written, after that time at the
  /// latest.
  bool finish(std::chrono::milliseconds time);

private:
  struct State;
  ForwardedOutput() = default;

  /// Also of the thread, which may be left where a reader never reads.
  std::shared_ptr<State> state_;
  std::future<void> done_;
};

} // namespace lstmc::launch
