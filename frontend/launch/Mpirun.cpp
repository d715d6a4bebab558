#include "frontend/launch/Mpirun.h"

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <thread>

#include <csignal>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace lstmc::launch {

namespace fs = std::filesystem;

static std::string findOnPath(std::string_view name) {
  const char *path = std::getenv("PATH");
  std::string_view left = path ? path : "";
  while (!left.empty()) {
    const std::string_view folder = left.substr(0, left.find(':'));
    left.remove_prefix(std::min(folder.size() + 1, left.size()));
    const std::string file = fmt::format("{}/{}", folder, name);
    if (::access(file.c_str(), X_OK) == 0)
      return file;
  }
  return "";
}

std::vector<std::string> mpirunWords(const Start &start, const std::string &mpirun, bool root) {
  std::vector<std::string> words = {
      mpirun, "--quiet",
      // Ranks have threads of their own to place, and may be more than processors; who waits
      // yields.
      "--bind-to", "none", "--oversubscribe", "--mca", "mpi_yield_when_idle", "1",
      // Shared memory within a host without what containers forbid, TCP between hosts.
      "--mca", "pml", "ob1", "--mca", "btl", "self,vader,tcp", "--mca",
      "btl_vader_single_copy_mechanism", "none",
      // A rank that fails tells the others itself, and they end themselves.
      "--mca", "orte_abort_on_non_zero_status", "0", "-n", std::to_string(start.ranks)};
  if (root)
    words.push_back("--allow-run-as-root");
  for (const auto &[name, value] : start.environment) {
    words.push_back("-x"); // by name: values are nobody's who looks at the list of processes
    words.push_back(name);
  }
  words.insert(words.end(), start.command.begin(), start.command.end());
  return words;
}

Result<Mpirun> Mpirun::start(const Start &start) {
  const std::string mpirun = findOnPath("mpirun");
  if (mpirun.empty())
    return fail(ErrorCode::E0503, "mpirun is not on the PATH: apt-get install openmpi-bin");
  std::vector<std::string> words = mpirunWords(start, mpirun, ::geteuid() == 0);
  std::vector<char *> arguments;
  for (std::string &word : words)
    arguments.push_back(word.data());
  arguments.push_back(nullptr);
  const pid_t parent = ::getpid(), child = ::fork();
  if (child < 0)
    return fail(ErrorCode::E0901, "mpirun cannot be started: {}", std::strerror(errno));
  if (child == 0) {
    ::setsid();
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (::getppid() != parent)
      ::_exit(127);
    if (const int null = ::open("/dev/null", O_RDONLY); null >= 0)
      ::dup2(null, STDIN_FILENO);
    for (const auto &[name, value] : start.environment)
      ::setenv(name.c_str(), value.c_str(), 1);
    ::execv(mpirun.c_str(), arguments.data());
    ::_exit(127);
  }
  return Mpirun(child);
}

bool Mpirun::ended() {
  if (pid_ >= 0 && ::waitpid(pid_, nullptr, WNOHANG) != 0)
    pid_ = -1;
  return pid_ < 0;
}

bool Mpirun::waitFor(int milliseconds) {
  for (int waited = 0; !ended() && waited < milliseconds; waited += 10)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  return pid_ < 0;
}

void Mpirun::kill() {
  if (ended())
    return;
  ::kill(pid_, SIGTERM);
  if (waitFor(3000))
    return;
  ::kill(-pid_, SIGKILL);
  waitFor(3000);
}

} // namespace lstmc::launch
