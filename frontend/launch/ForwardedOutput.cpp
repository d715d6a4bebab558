#include "frontend/launch/ForwardedOutput.h"

#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <thread>

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "executor/base/StandardStreams.h"
#include "executor/base/Threads.h"

namespace lstmc::launch {

struct ForwardedOutput::State {
  State(int output, int messages, int ended, std::function<void(std::string_view)> sink)
      : output(output), messages(messages), ended(ended), sink(std::move(sink)) {}
  State(const State &) = delete;
  State &operator=(const State &) = delete;
  ~State() {
    for (int file : {output, messages, ended})
      ::close(file);
  }

  /// Forwards until all writers have closed the pipes, or mpirun has ended and they are empty:
  /// another process may have inherited them. If both pipes have data, messages are written first,
  /// since a result comes last.
  void forward() {
    std::array<pollfd, 3> files{pollfd{messages, POLLIN, 0}, pollfd{output, POLLIN, 0},
                                pollfd{ended, POLLIN, 0}};
    while (files[0].fd >= 0 || files[1].fd >= 0) {
      if (::poll(files.data(), files.size(), -1) < 0)
        continue; // EINTR
      if (files[0].revents == 0 && files[1].revents == 0)
        return;
      if (files[0].revents != 0)
        forward(files[0], writeMessage);
      if (files[1].revents != 0)
        forward(files[1], sink ? sink : writeOutput);
    }
  }

  /// Forwards the available data of a pipe; at its end sets its number to -1.
  void forward(pollfd &pipe, const std::function<void(std::string_view)> &write) {
    const ssize_t size = ::read(pipe.fd, piece.data(), piece.size());
    if (size == 0 || (size < 0 && errno != EINTR))
      pipe = {-1, 0, 0};
    if (size <= 0)
      return;
    writing = true;
    write({piece.data(), size_t(size)});
    writing = false;
  }

  const int output, messages, ended;                ///< `ended` can be read once mpirun has ended
  const std::function<void(std::string_view)> sink; ///< may be empty
  std::array<char, 65536> piece;
  std::atomic<bool> writing = false;
};

Result<ForwardedOutput> ForwardedOutput::start(int output, int messages,
                                               std::function<void(std::string_view)> sink) {
  ForwardedOutput forwarded;
  forwarded.state_ =
      std::make_shared<State>(output, messages, ::eventfd(0, EFD_CLOEXEC), std::move(sink));
  if (forwarded.state_->ended < 0)
    return fail(ErrorCode::E0901, "eventfd: {}", std::strerror(errno));
  std::promise<void> done;
  forwarded.done_ = done.get_future();
  try {
    std::thread([state = forwarded.state_, done = std::move(done)]() mutable {
      state->forward();
      done.set_value();
    }).detach();
  } catch (const std::system_error &error) {
    return noThread("a thread for what ranks print", error);
  }
  return forwarded;
}

ForwardedOutput::~ForwardedOutput() {
  if (state_)
    finish(std::chrono::milliseconds(0));
}

bool ForwardedOutput::isWriting() const { return state_->writing; }

bool ForwardedOutput::finish(std::chrono::milliseconds time) {
  const uint64_t one = 1;
  (void)!::write(state_->ended, &one, sizeof(one));
  return done_.wait_for(time) == std::future_status::ready;
}

} // namespace lstmc::launch
