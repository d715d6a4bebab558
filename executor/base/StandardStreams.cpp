#include "executor/base/StandardStreams.h"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <vector>

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

namespace lstmc {
namespace {

std::atomic<int> outputError{0}; ///< errno of the first write to stdout that failed

/// errno, or 0 if everything was written.
int writeAll(int file, std::string_view text) {
  while (!text.empty()) {
    ssize_t n = ::write(file, text.data(), text.size());
    if (n >= 0) {
      text.remove_prefix(size_t(n));
    } else if (errno == EAGAIN) { // the stream was opened non-blocking by the parent process
      pollfd ready{file, POLLOUT, 0};
      ::poll(&ready, 1, -1);
    } else if (errno != EINTR) {
      return errno;
    }
  }
  return 0;
}

} // namespace

void prepareStandardStreams() {
  for (int file : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (::fcntl(file, F_GETFD) < 0) // open takes the lowest free descriptor: this one
      (void)::open("/dev/null", file == STDIN_FILENO ? O_RDONLY : O_WRONLY);
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
}

void writeOutput(std::string_view text) {
  if (outputError == 0)
    outputError = writeAll(STDOUT_FILENO, text);
}

Status outputStatus() {
  int error = outputError;
  if (error == 0 || error == EPIPE)
    return {};
  return failAt({"<stdout>"}, ErrorCode::E0601, "cannot write: {}", std::strerror(error));
}

bool outputHasReader() { return outputError != EPIPE; }

void writeMessage(std::string_view text) { (void)writeAll(STDERR_FILENO, text); }

Result<std::string> readInput() {
  std::string text;
  std::vector<char> piece(65536);
  while (true) {
    ssize_t n = ::read(STDIN_FILENO, piece.data(), piece.size());
    if (n == 0)
      return text;
    if (n > 0) {
      text.append(piece.data(), size_t(n));
    } else if (errno == EAGAIN) {
      pollfd ready{STDIN_FILENO, POLLIN, 0};
      ::poll(&ready, 1, -1);
    } else if (errno != EINTR) {
      return failAt({"<stdin>"}, ErrorCode::E0601, "cannot read: {}", std::strerror(errno));
    }
  }
}

} // namespace lstmc
