// Forwards the stdout and stderr of mpirun to those of this process.
#pragma once

#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <string_view>

#include "executor/base/Status.h"

namespace lstmc::launch {

/// Output is written by a thread of its own, so that ranks are watched while a reader is slow. Each
/// piece is written as it comes, by writeOutput() and writeMessage(); outputStatus() has the
/// result. Output that cannot be written is dropped and the job continues, whereas mpirun would end
/// it. With a `sink`, stdout goes there instead of to writeOutput().
class ForwardedOutput {
public:
  /// Takes the reading ends of two pipes. E0901.
  static Result<ForwardedOutput> start(int output, int messages,
                                       std::function<void(std::string_view)> sink = {});
  ForwardedOutput(ForwardedOutput &&) = default;
  ForwardedOutput &operator=(ForwardedOutput &&) = delete;
  /// Output that has not been written by then is lost.
  ~ForwardedOutput();

  /// Whether a reader is being waited for.
  bool isWriting() const;
  /// Call once mpirun has ended. Waits up to `time` and returns whether all output was written.
  bool finish(std::chrono::milliseconds time);

private:
  struct State;
  ForwardedOutput() = default;

  /// Also of the thread, which may be left where a reader never reads.
  std::shared_ptr<State> state_;
  std::future<void> done_;
};

} // namespace lstmc::launch
