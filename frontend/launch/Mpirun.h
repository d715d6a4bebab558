// mpirun as a child of this process.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

#include "executor/base/Status.h"

namespace lstmc::launch {

/// The ranks of a job: what each of them runs, and with which variables in its environment.
struct Start {
  int ranks = 1;
  std::vector<std::string> command;
  std::vector<std::pair<std::string, std::string>> environment;
};

/// mpirun, in a session of its own, so that a terminal's ^C does not reach it. It is asked to end
/// when this process dies.
class Mpirun {
public:
  /// E0503 with the command that installs it, where it is not on the PATH; E0901.
  static Result<Mpirun> start(const Start &start);
  Mpirun(Mpirun &&other) noexcept : pid_(std::exchange(other.pid_, -1)) {}
  Mpirun &operator=(Mpirun &&) = delete;
  ~Mpirun() { kill(); }

  /// Whether it has ended.
  bool ended();
  /// Ends it and what it has started, and waits for it: it is asked first.
  void kill();

private:
  explicit Mpirun(pid_t pid) : pid_(pid) {}
  bool waitFor(int milliseconds);

  pid_t pid_ = -1; ///< -1: it has ended
};

/// What mpirun is given for it.
std::vector<std::string> mpirunWords(const Start &start, const std::string &mpirun, bool root);

} // namespace lstmc::launch
