#include "frontend/launch/Ssh.h"

#include <cstring>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "executor/base/Status.h"
#include "frontend/launch/Mpirun.h"
#include "frontend/launch/Network.h"

namespace lstmc::launch {

namespace {

/// ssh under way, and where it complains.
struct Attempt {
  pid_t pid = -1;
  int errors = -1;
};

Attempt begin(const std::string &host, int port) {
  std::vector<std::string> words = sshWords(port);
  words.insert(words.end(), {host, "true"});
  std::vector<char *> arguments;
  for (std::string &word : words)
    arguments.push_back(word.data());
  arguments.push_back(nullptr);
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0)
    return {};
  const pid_t child = ::fork();
  if (child == 0) {
    const int null = ::open("/dev/null", O_RDWR);
    ::dup2(null, STDIN_FILENO);
    ::dup2(null, STDOUT_FILENO);
    ::dup2(ends[1], STDERR_FILENO);
    ::execvp(arguments[0], arguments.data());
    ::_exit(127);
  }
  ::close(ends[1]);
  return {child, ends[0]};
}

std::optional<std::string> end(const Attempt &attempt) {
  std::string said;
  char bytes[512];
  for (ssize_t size; (size = ::read(attempt.errors, bytes, sizeof(bytes))) > 0;)
    said.append(bytes, size_t(size));
  ::close(attempt.errors);
  int status = 1;
  while (::waitpid(attempt.pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
    return std::nullopt;
  // The last line is the reason, those before it are warnings and banners.
  while (!said.empty() && (said.back() == '\n' || said.back() == '\r'))
    said.pop_back();
  said.erase(0, said.rfind('\n') + 1);
  return said.empty() ? fmt::format("ssh ended with {}", status) : said;
}

} // namespace

std::vector<std::optional<std::string>> tryHosts(const std::vector<std::string> &hosts, int port) {
  std::vector<Attempt> attempts;
  for (const std::string &host : hosts)
    attempts.push_back(isThisMachine(host) ? Attempt() : begin(host, port));
  std::vector<std::optional<std::string>> answers;
  for (size_t i = 0; i < hosts.size(); ++i)
    answers.push_back(isThisMachine(hosts[i]) ? std::nullopt
                      : attempts[i].pid < 0   ? std::optional<std::string>("ssh cannot be started")
                                              : end(attempts[i]));
  return answers;
}

} // namespace lstmc::launch
