#include "tests/nets/Child.h"

#include <csignal>
#include <cstring>
#include <exception>
#include <filesystem>
#include <stdexcept>

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/nets/Domains.h"
#include "tests/nets/Generator.h"
#include "tests/nets/Pool.h"

namespace lstmc::nets {

namespace {

/// Limit in processor time; the wall clock has ten times that, because devices wait for one
/// another.
constexpr unsigned kMostSeconds = 60;

/// Fields of a message, each after its length.
class Message {
public:
  void put(const std::string &field) {
    bytes_ += fmt::format("{}\n", field.size());
    bytes_ += field;
  }
  const std::string &bytes() const { return bytes_; }

private:
  std::string bytes_;
};

class Reader {
public:
  explicit Reader(std::string bytes) : bytes_(std::move(bytes)) {}
  std::string take() {
    size_t line = bytes_.find('\n', at_);
    if (line == std::string::npos)
      return {};
    size_t size = std::stoul(bytes_.substr(at_, line - at_));
    at_ = line + 1 + size;
    return bytes_.substr(line + 1, size);
  }

private:
  std::string bytes_;
  size_t at_ = 0;
};

void send(int pipe, const std::string &bytes) {
  for (size_t sent = 0; sent < bytes.size();) {
    ssize_t wrote = write(pipe, bytes.data() + sent, bytes.size() - sent);
    if (wrote <= 0)
      _exit(3);
    sent += size_t(wrote);
  }
}

[[noreturn]] void work(int pipe, uint64_t seed, const Questions &questions, std::string text) {
  rlimit most{kMostSeconds, kMostSeconds};
  setrlimit(RLIMIT_CPU, &most);
  alarm(10 * kMostSeconds);
  std::filesystem::current_path(
      std::filesystem::temp_directory_path()); // for files that the compiler saves
  Verdict verdict;
  try {
    if (text.empty())
      text = generate(seed);
    Message first;
    first.put(text);
    send(pipe, first.bytes());
    verdict = judge(text, questions);
  } catch (const Finding &finding) {
    verdict = {Verdict::Wrong, finding.judge, "", finding.what, {}};
  } catch (const std::exception &error) {
    verdict = {Verdict::Wrong, "generate", "", error.what(), {}};
  }
  Message rest;
  if (text.empty())
    rest.put("");
  rest.put(std::to_string(int(verdict.kind)));
  rest.put(verdict.judge);
  rest.put(verdict.way);
  rest.put(verdict.what);
  for (const auto &[what, count] : verdict.counts) {
    rest.put(what);
    rest.put(std::to_string(count));
  }
  send(pipe, rest.bytes());
  _exit(0);
}

std::string readAll(int pipe) {
  std::string bytes;
  char buffer[65536];
  for (ssize_t got; (got = read(pipe, buffer, sizeof(buffer))) > 0;)
    bytes.append(buffer, size_t(got));
  return bytes;
}

} // namespace

Judged judgeInChild(uint64_t seed, const Questions &questions, const std::string &text) {
  (void)domainOf(""); // tried once, for all children
  int ends[2];
  if (pipe(ends) != 0)
    throw std::runtime_error("no pipe");
  pid_t child = fork();
  if (child < 0)
    throw std::runtime_error("no process");
  if (child == 0) {
    close(ends[0]);
    work(ends[1], seed, questions, text);
  }
  close(ends[1]);
  Reader reader(readAll(ends[0]));
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  Judged judged;
  judged.text = reader.take();
  if (WIFSIGNALED(status)) {
    const char *name = strsignal(WTERMSIG(status));
    judged.verdict = {Verdict::Wrong, "crash", "", name ? name : "a signal", {}};
    return judged;
  }
  if (WEXITSTATUS(status) != 0) {
    judged.verdict = {Verdict::Wrong, "crash", "", fmt::format("exit {}", WEXITSTATUS(status)), {}};
    return judged;
  }
  Verdict &verdict = judged.verdict;
  verdict.kind = Verdict::Kind(std::stoi(reader.take()));
  verdict.judge = reader.take();
  verdict.way = reader.take();
  verdict.what = reader.take();
  for (std::string what; !(what = reader.take()).empty();)
    verdict.counts[what] = std::stoll(reader.take());
  return judged;
}

} // namespace lstmc::nets
