#include "viz/Dot.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <vector>

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

namespace lstmc::viz {

static constexpr int64_t kManyLines = 500;

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\')
      out += '\\';
    if (c == '\n')
      out += "\\n";
    else if (static_cast<unsigned char>(c) >= 0x20)
      out += c;
  }
  return out + "\"";
}

/// Writes `input` to a child and reads its output concurrently, so that neither pipe fills up.
static std::string exchange(int in, int out, std::string_view input) {
  std::string output;
  std::array<char, 65536> buffer;
  while (true) {
    pollfd fds[2] = {{out, POLLIN, 0}, {in, POLLOUT, 0}};
    if (poll(fds, in >= 0 ? 2 : 1, -1) < 0 && errno != EINTR)
      break;
    if (in >= 0 && fds[1].revents) {
      ssize_t written = input.empty() ? -1 : write(in, input.data(), input.size());
      if (written > 0)
        input.remove_prefix(size_t(written));
      if (written < 0 || input.empty()) {
        close(in);
        in = -1;
      }
    }
    if (fds[0].revents) {
      ssize_t got = read(out, buffer.data(), buffer.size());
      if (got <= 0)
        break;
      output.append(buffer.data(), size_t(got));
    }
  }
  if (in >= 0)
    close(in);
  return output;
}

std::string xmlText(std::string_view text) {
  std::string out;
  for (char c : text)
    if (static_cast<unsigned char>(c) >= 0x20)
      out += c == '<'   ? "&lt;"
             : c == '>' ? "&gt;"
             : c == '&' ? "&amp;"
             : c == '"' ? "&quot;"
                        : std::string(1, c);
  return out;
}

/// Runs `dot` with these options; empty if it failed.
static Result<std::string> runDot(const std::string &dot, std::vector<std::string> words) {
  int toChild[2], fromChild[2];
  if (pipe(toChild) != 0)
    return fail(ErrorCode::E0601, "cannot open a pipe to dot");
  if (pipe(fromChild) != 0) {
    close(toChild[0]);
    close(toChild[1]);
    return fail(ErrorCode::E0601, "cannot open a pipe from dot");
  }
  std::vector<char *> arguments;
  for (std::string &word : words)
    arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, toChild[0], 0);
  posix_spawn_file_actions_adddup2(&actions, fromChild[1], 1);
  posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
  for (int fd : {toChild[0], toChild[1], fromChild[0], fromChild[1]})
    posix_spawn_file_actions_addclose(&actions, fd);
  pid_t child = 0;
  int error = posix_spawnp(&child, "dot", &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(toChild[0]);
  close(fromChild[1]);
  if (error != 0) {
    close(toChild[1]);
    close(fromChild[0]);
    return fail(ErrorCode::E0501,
                "Graphviz is not here (no program \"dot\"); -o with the suffix .dot needs none");
  }
  auto previous = signal(SIGPIPE, SIG_IGN);
  std::string picture = exchange(toChild[1], fromChild[0], dot);
  signal(SIGPIPE, previous);
  close(fromChild[0]);
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? picture : std::string();
}

Result<std::string> render(const std::string &dot, std::string_view format) {
  std::vector<std::string> words = {"dot", fmt::format("-T{}", format)};
  // Graphviz's best layout takes minutes from some hundred boxes on, so the number of rounds is
  // reduced.
  if (std::count(dot.begin(), dot.end(), '\n') > kManyLines)
    words.insert(words.end(), {"-Gnslimit=0.2", "-Gnslimit1=0.2", "-Gmclimit=0.2"});
  LSTMC_ASSIGN(std::string picture, runDot(dot, words));
  if (picture.empty()) { // it loses some curves of arrows within a row, but no straight line
    words.emplace_back("-Gsplines=line");
    LSTMC_ASSIGN(picture, runDot(dot, words));
  }
  if (picture.empty())
    return fail(ErrorCode::E0501, "dot failed");
  return picture;
}

} // namespace lstmc::viz
