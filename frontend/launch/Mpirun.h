// mpirun as a child of this process.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

#include "executor/base/Status.h"
#include "frontend/launch/ForwardedOutput.h"
#include "frontend/launch/Hosts.h"

namespace lstmc::launch {

/// The ranks of a job: what each of them runs, where, and with which variables in its environment.
struct Start {
  int ranks = 1;
  std::vector<std::string> command;
  std::map<std::string, std::string> environment;
  Launcher launcher = Launcher::Local;
  std::vector<std::string> hosts;  ///< of each rank; empty: this machine, or the scheduler's choice
  bool leavesOutLostRanks = false; ///< started again without a host, the job has fewer ranks
  int sshPort = 0;                 ///< 0: what ssh itself takes
  std::string interface;           ///< for messages; empty: any, within a machine its loopback
  int port = 0; ///< the ports of mpirun and of messages are those after it; 0: any
  std::string parallelEnvironment; ///< of Grid Engine
  std::string folder;              ///< that ranks run in; empty: this process's
  std::string libraries;           ///< folder in which ranks look for libraries first; may be empty
  std::function<void(std::string_view)> result = {}; ///< takes their stdout; empty: this process's
};

/// The ssh command to reach hosts; it never asks for a password, and gives up after 10 s.
std::vector<std::string> sshWords(int port);

/// mpirun, in a process session of its own, so that ^C in the terminal does not reach it. The
/// kernel sends it SIGTERM when this process dies.
class Mpirun {
public:
  /// E0503 with the command that installs it, where mpirun or what the launcher needs is not on the
  /// PATH; E0901.
  static Result<Mpirun> start(const Start &start);
  Mpirun(Mpirun &&other) noexcept
      : pid_(std::exchange(other.pid_, -1)), output_(std::move(other.output_)) {}
  Mpirun &operator=(Mpirun &&) = delete;
  ~Mpirun() { kill(); }

  /// Whether it has ended.
  bool ended();
  /// Ends it and its ranks, by SIGTERM and then SIGKILL, and waits for it.
  void kill();
  /// Output of mpirun and of the ranks.
  ForwardedOutput &output() { return output_; }

private:
  Mpirun(pid_t pid, ForwardedOutput output) : pid_(pid), output_(std::move(output)) {}
  bool waitFor(int milliseconds);

  pid_t pid_ = -1; ///< -1: it has ended
  ForwardedOutput output_;
};

/// The command line that starts the ranks. Outside of an allocation of Slurm or a job of Grid
/// Engine it begins with the scheduler's command that waits for one.
/// `singleCopy`: the ranks, all on this machine, may read one another's memory.
std::vector<std::string> mpirunWords(const Start &start, const std::string &mpirun, bool root,
                                     bool singleCopy);

/// The file of that name in a folder of PATH; empty if there is none.
std::string findOnPath(std::string_view name);

} // namespace lstmc::launch
