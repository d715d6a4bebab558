#include "executor/ranks/Daemon.h"

#include <csignal>
#include <fstream>
#include <string>

#include <fmt/format.h>
#include <unistd.h>

namespace lstmc::ranks {

namespace {

/// Name and parent of a process, from a line "123 (orted) S 45 ...".
struct Process {
  std::string name;
  pid_t parent = 0;
};

Process processOf(pid_t pid) {
  std::ifstream file(fmt::format("/proc/{}/stat", pid));
  std::string line;
  std::getline(file, line);
  const size_t begin = line.find('('), end = line.rfind(')');
  if (begin == std::string::npos || end == std::string::npos || end + 4 > line.size())
    return {};
  return {line.substr(begin + 1, end - begin - 1), pid_t(std::atoi(line.c_str() + end + 4))};
}

/// Between a rank and the daemon there may be a script or two.
constexpr int kGenerations = 8;

} // namespace

void endDaemon() {
  pid_t pid = ::getppid();
  for (int i = 0; i < kGenerations && pid > 1; ++i) {
    const Process process = processOf(pid);
    if (process.name == "orted") {
      ::kill(pid, SIGKILL); // on SIGTERM it would wait for an answer of mpirun
      return;
    }
    pid = process.parent;
  }
}

} // namespace lstmc::ranks
