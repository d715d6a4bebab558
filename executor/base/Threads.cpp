#include "executor/base/Threads.h"

#include <fstream>
#include <optional>
#include <string>

#include <sys/resource.h>

namespace lstmc {
namespace {

std::string limitText(int resource, uint64_t unit, std::string_view what) {
  rlimit limit{};
  if (::getrlimit(resource, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
    return "";
  return fmt::format(", {} {}", limit.rlim_cur / unit, what);
}

/// The limit of the control group that the process is in; nothing if it has none.
std::string groupText() {
  std::ifstream groups("/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    size_t path = line.find("::"); // version 2; version 1 has the name of a controller between the
                                   // colons
    bool pids = line.find(":pids:") != line.npos;
    if (path == line.npos && !pids)
      continue;
    std::string folder = pids ? "/sys/fs/cgroup/pids" + line.substr(line.find(":pids:") + 6)
                              : "/sys/fs/cgroup" + line.substr(path + 2);
    std::ifstream file(folder + "/pids.max");
    if (std::string most; file >> most && most != "max")
      return fmt::format(", {} threads in its control group (pids.max)", most);
  }
  return "";
}

std::string threadsNow() {
  std::ifstream file("/proc/self/status");
  for (std::string word; file >> word;)
    if (word == "Threads:" && file >> word)
      return word;
  return "an unknown number of";
}

} // namespace

Error noThread(std::string_view asked, const std::system_error &thrown) {
  std::string limits = limitText(RLIMIT_NPROC, 1, "threads of its user (ulimit -u)") +
                       limitText(RLIMIT_AS, 1 << 20, "MiB of address space (ulimit -v)") +
                       limitText(RLIMIT_STACK, 1 << 10, "KiB of stack for each (ulimit -s)") +
                       groupText();
  return fail(ErrorCode::E0901, "cannot start {}: {}; the process has {} threads and may have{}",
              asked, thrown.code().message(), threadsNow(),
              limits.empty() ? " any number" : limits.substr(1));
}

} // namespace lstmc
