#include "executor/base/Confined.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <vector>

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "executor/base/ConfinedProcess.h"
#include "executor/base/NumberText.h"

namespace lstmc {

namespace {

constexpr int kNotConfined = 125; ///< exit code of a child that could not be
using Clock = std::chrono::steady_clock;

/// A pipe; its ends are closed with it.
struct Pipe {
  std::array<int, 2> ends{-1, -1};
  Pipe() { (void)(::pipe2(ends.data(), O_CLOEXEC) == 0); }
  ~Pipe() {
    close(0);
    close(1);
  }
  Pipe(const Pipe &) = delete;
  Pipe &operator=(const Pipe &) = delete;
  void close(size_t end) {
    if (ends[end] >= 0)
      ::close(ends[end]);
    ends[end] = -1;
  }
};

[[noreturn]] void beChild(const Confinement &confinement, Pipe &output, Pipe &messages,
                          const std::function<int()> &work) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  const int nothing = ::open("/dev/null", O_RDONLY);
  const bool well = ::dup2(nothing, 0) == 0 && ::dup2(output.ends[1], 1) == 1 &&
                    ::dup2(messages.ends[1], 2) == 2 && ::close_range(3, ~0u, 0) == 0 &&
                    confineThisProcess(confinement);
  ::_exit(well ? work() : kNotConfined);
}

/// Appends what there is to read; false at the end of the stream.
bool take(int from, std::string &to) {
  std::vector<char> piece(1 << 16);
  const ssize_t count = ::read(from, piece.data(), piece.size());
  if (count > 0)
    to.append(piece.data(), size_t(count));
  return count > 0 || (count < 0 && errno == EINTR);
}

/// Until both streams end, a limit is reached or the time is over; true at the first.
bool collect(Pipe &output, Pipe &messages, const Confinement &confinement, ConfinedResult &result) {
  const auto deadline = Clock::now() + confinement.time;
  std::array<pollfd, 2> streams{{{output.ends[0], POLLIN, 0}, {messages.ends[0], POLLIN, 0}}};
  std::array<std::string *, 2> texts{&result.output, &result.messages};
  while (streams[0].fd >= 0 || streams[1].fd >= 0) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now());
    if (left.count() <= 0)
      return false;
    const int ready = ::poll(streams.data(), streams.size(), int(left.count()));
    if (ready < 0 && errno != EINTR)
      return false;
    for (size_t i = 0; i < streams.size() && ready > 0; ++i)
      if (streams[i].fd >= 0 && streams[i].revents != 0) {
        if (!take(streams[i].fd, *texts[i]))
          streams[i].fd = -1;
        if (texts[i]->size() > confinement.outputBytes)
          return false;
      }
  }
  return true;
}

/// Why the child ended before its work was done.
Error cutShort(const Confinement &confinement, const ConfinedResult &result, int signal) {
  const uint64_t said = std::max(result.output.size(), result.messages.size());
  if (said > confinement.outputBytes)
    return fail(ErrorCode::E0606, "reading: found more than {} to say, want at most that",
                bytesText(confinement.outputBytes));
  if (signal == SIGKILL || signal == SIGXCPU)
    return fail(ErrorCode::E0606, "reading: found more than {} s of work, want at most that",
                confinement.time.count());
  return fail(ErrorCode::E0606, "reading: ended by signal {} ({})", signal, ::strsignal(signal));
}

} // namespace

Result<ConfinedResult> runConfined(const Confinement &confinement,
                                   const std::function<int()> &work) {
  if (!canConfine())
    return fail(ErrorCode::E0503, "this kernel has no Landlock, which confines a reader of files");
  if (::access("/proc/self/statm", R_OK) != 0)
    return fail(ErrorCode::E0503, "/proc is not mounted, and confining a reader of files needs it");
  Pipe output, messages;
  if (output.ends[0] < 0 || messages.ends[0] < 0)
    return fail(ErrorCode::E0901, "no pipe to a process: {}", std::strerror(errno));
  const pid_t child = ::fork();
  if (child < 0)
    return fail(ErrorCode::E0901, "no process to read with: {}", std::strerror(errno));
  if (child == 0)
    beChild(confinement, output, messages, work);
  output.close(1);
  messages.close(1);
  ConfinedResult result;
  if (!collect(output, messages, confinement, result))
    ::kill(child, SIGKILL);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR)
    ;
  if (WIFSIGNALED(status))
    return cutShort(confinement, result, WTERMSIG(status));
  result.exit = WEXITSTATUS(status);
  if (result.exit == kNotConfined)
    return fail(ErrorCode::E0503, "this kernel does not let a reader of files be confined");
  return result;
}

} // namespace lstmc
