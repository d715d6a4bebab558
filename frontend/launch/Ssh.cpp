#include "frontend/launch/Ssh.h"

#include <cstring>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "frontend/launch/Mpirun.h"
#include "frontend/launch/Network.h"

namespace lstmc::launch {

namespace {

/// A running command and the pipes of its output.
struct Attempt {
  pid_t pid = -1;
  int output = -1, errors = -1;
};

Attempt begin(std::vector<std::string> words) {
  std::vector<char *> arguments;
  for (std::string &word : words)
    arguments.push_back(word.data());
  arguments.push_back(nullptr);
  int output[2], errors[2];
  if (::pipe2(output, O_CLOEXEC) != 0)
    return {};
  if (::pipe2(errors, O_CLOEXEC) != 0) {
    ::close(output[0]);
    ::close(output[1]);
    return {};
  }
  const pid_t child = ::fork();
  if (child == 0) {
    const int null = ::open("/dev/null", O_RDWR);
    ::dup2(null, STDIN_FILENO);
    ::dup2(output[1], STDOUT_FILENO);
    ::dup2(errors[1], STDERR_FILENO);
    ::execvp(arguments[0], arguments.data());
    ::_exit(127);
  }
  ::close(output[1]);
  ::close(errors[1]);
  return {child, output[0], errors[0]};
}

std::vector<std::string> onHost(const std::string &host, int port,
                                const std::vector<std::string> &remote) {
  std::vector<std::string> words = sshWords(port);
  words.push_back(host);
  words.insert(words.end(), remote.begin(), remote.end());
  return words;
}

std::string readAll(int end) {
  std::string said;
  char bytes[4096];
  for (ssize_t size; (size = ::read(end, bytes, sizeof(bytes))) > 0;)
    said.append(bytes, size_t(size));
  ::close(end);
  return said;
}

/// The command's output; E0801 with the reason of failure. Its stderr must fit in a pipe.
Result<std::string> end(const Attempt &attempt, std::string_view program) {
  if (attempt.pid < 0)
    return fail(ErrorCode::E0801, "{} cannot be started", program);
  const std::string output = readAll(attempt.output);
  std::string said = readAll(attempt.errors);
  int status = 1;
  while (::waitpid(attempt.pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
    return output;
  // The last line is the reason, those before it are warnings and banners.
  while (!said.empty() && (said.back() == '\n' || said.back() == '\r'))
    said.pop_back();
  said.erase(0, said.rfind('\n') + 1);
  return fail(ErrorCode::E0801, "{}",
              said.empty() ? fmt::format("{} ended with {}", program, status) : said);
}

/// Quotes a word for the shell of another host.
std::string quoted(const std::string &word) {
  std::string text = "'";
  for (char c : word)
    text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

} // namespace

Result<std::string> outputHere(const std::vector<std::string> &words, std::string_view program) {
  return end(begin(words), program);
}

std::string quotedWords(const std::vector<std::string> &words) {
  std::string line;
  for (const std::string &word : words)
    line += (line.empty() ? "" : " ") + quoted(word);
  return line;
}

std::vector<std::optional<std::string>> tryHosts(const std::vector<std::string> &hosts, int port) {
  std::vector<Attempt> attempts;
  for (const std::string &host : hosts)
    attempts.push_back(isThisMachine(host) ? Attempt() : begin(onHost(host, port, {"true"})));
  std::vector<std::optional<std::string>> answers;
  for (size_t i = 0; i < hosts.size(); ++i) {
    answers.emplace_back();
    if (isThisMachine(hosts[i]))
      continue;
    if (Result<std::string> answer = end(attempts[i], "ssh"); !answer.ok())
      answers.back() = answer.error().message;
  }
  return answers;
}

std::vector<Result<std::string>> outputsOn(const std::vector<std::string> &hosts, int port,
                                           const std::vector<std::string> &words) {
  std::vector<std::string> remote;
  for (const std::string &word : words)
    remote.push_back(quoted(word));
  std::vector<Attempt> attempts;
  for (const std::string &host : hosts)
    attempts.push_back(begin(isThisMachine(host) ? words : onHost(host, port, remote)));
  std::vector<Result<std::string>> outputs;
  for (size_t i = 0; i < hosts.size(); ++i)
    outputs.push_back(end(attempts[i], isThisMachine(hosts[i]) ? words[0] : "ssh"));
  return outputs;
}

} // namespace lstmc::launch
