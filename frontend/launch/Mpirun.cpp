#include "frontend/launch/Mpirun.h"

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <tuple>

#include <csignal>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/ranges.h>

#include "frontend/launch/SingleCopy.h"

namespace lstmc::launch {

std::string findOnPath(std::string_view name) {
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

std::vector<std::string> sshWords(int port) {
  std::vector<std::string> words = {"ssh", "-o", "BatchMode=yes", "-o", "ConnectTimeout=10"};
  if (port != 0)
    words.insert(words.end(), {"-p", std::to_string(port)});
  return words;
}

/// The scheduler's command that waits for an allocation and runs the rest of the words in it; empty
/// without a scheduler, or inside an allocation.
static std::vector<std::string> schedulerWords(const Start &start) {
  const std::string ranks = std::to_string(start.ranks);
  if (start.launcher == Launcher::Slurm && !std::getenv("SLURM_JOB_ID"))
    return {"salloc", "--quiet", "--ntasks=" + ranks};
  // qrsh instead of qsub: the output of rank 0 arrives here.
  if (start.launcher == Launcher::Sge && !std::getenv("PE_HOSTFILE"))
    return {"qrsh", "-now", "no", "-cwd", "-V", "-pe", start.parallelEnvironment, ranks};
  return {};
}

/// Options for the hosts of ranks, and for the launcher.
static std::vector<std::string> placeWords(const Start &start) {
  if (start.launcher == Launcher::Slurm)
    return {"--mca", "plm", "slurm"};
  if (start.launcher == Launcher::Sge)
    return {};
  if (start.hosts.empty())
    return start.launcher == Launcher::Local
               ? std::vector<std::string>{"--host", fmt::format("localhost:{}", start.ranks)}
               : std::vector<std::string>{};
  // One host for each rank, in the order of ranks.
  std::vector<std::string> words = {"--host", fmt::format("{}", fmt::join(start.hosts, ",")),
                                    "--map-by", "seq"};
  if (start.launcher == Launcher::Ssh) {
    words.insert(words.end(),
                 {"--mca", "plm", "rsh", "--mca", "plm_rsh_agent",
                  fmt::format("{}", fmt::join(sshWords(start.sshPort), " ")),
                  // Every host is reached from here: among themselves they need no ssh.
                  "--mca", "plm_rsh_no_tree_spawn", "1"});
  }
  return words;
}

static std::vector<std::string> networkWords(const Start &start) {
  std::vector<std::string> words;
  auto set = [&words](const char *parameter, const std::string &value) {
    words.insert(words.end(), {"--mca", parameter, value});
  };
  if (!start.interface.empty()) {
    set("btl_tcp_if_include", start.interface);
    set("oob_tcp_if_include", start.interface);
  }
  if (start.port != 0) {
    const int messages = 2 * start.ranks;
    set("btl_tcp_port_min_v4", std::to_string(start.port + 1));
    set("btl_tcp_port_range_v4", std::to_string(messages));
    set("oob_tcp_dynamic_ipv4_ports",
        fmt::format("{}-{}", start.port + messages + 1, start.port + messages + 8));
  }
  return words;
}

std::vector<std::string> mpirunWords(const Start &start, const std::string &mpirun, bool root,
                                     bool singleCopy) {
  std::vector<std::string> words = schedulerWords(start);
  auto add = [&words](std::vector<std::string> more) {
    words.insert(words.end(), more.begin(), more.end());
  };
  add({mpirun, "--quiet",
       // Ranks place their own threads, and may outnumber the processors.
       "--bind-to", "none", "--oversubscribe",
       // Shared memory within a host, TCP between hosts.
       "--mca", "pml", "ob1", "--mca", "btl", "self,vader,tcp",
       // A rank that fails tells the others itself, and they end themselves.
       "--mca", "orte_abort_on_non_zero_status", "0",
       // Processes that remain when mpirun is told to end have had their time.
       "--mca", "odls_base_sigkill_timeout", "0", "-n", std::to_string(start.ranks)});
  add(singleCopy ? std::vector<std::string>{"--mca", "btl_vader_single_copy_mechanism", "cma"}
                 // Two copies, through shared pieces: larger ones, and more of them in flight,
                 // because sender and receiver each wait for the other to poll.
                 : std::vector<std::string>{"--mca", "btl_vader_single_copy_mechanism", "none",
                                            "--mca", "btl_vader_max_send_size", "262144", "--mca",
                                            "pml_ob1_send_pipeline_depth", "8"});
  add(placeWords(start));
  add(networkWords(start));
  if (root)
    words.push_back("--allow-run-as-root");
  if (!start.folder.empty())
    add({"--wdir", start.folder});
  if (!start.libraries.empty())
    add({"-x", "LD_LIBRARY_PATH=" + start.libraries}); // not mpirun's own
  for (const auto &[name, value] : start.environment)
    add({"-x", name}); // by name only: the list of processes shows the words to all users
  add(start.command);
  return words;
}

/// Programs needed besides mpirun: the first word of the command, and the programs that mpirun
/// starts.
static Status checkPrograms(const Start &start, const std::string &first) {
  const bool ssh = start.launcher == Launcher::Ssh && !start.hosts.empty();
  for (const auto &[program, package, needed] :
       {std::tuple("ssh", "openssh-client", ssh),
        std::tuple("salloc", "slurm-client", first == "salloc"),
        std::tuple("qrsh", "gridengine-client", first == "qrsh")})
    if (needed && findOnPath(program).empty())
      return fail(ErrorCode::E0503, "{} is not on the PATH: apt-get install {}", program, package);
  return {};
}

namespace {

/// Closes the ends that have not been released.
struct Pipe {
  static Result<Pipe> make() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0)
      return fail(ErrorCode::E0901, "mpirun cannot be started: {}", std::strerror(errno));
    return Pipe(ends[0], ends[1]);
  }
  Pipe(int out, int in) : out(out), in(in) {}
  Pipe(Pipe &&other) noexcept
      : out(std::exchange(other.out, -1)), in(std::exchange(other.in, -1)) {}
  Pipe &operator=(Pipe &&) = delete;
  ~Pipe() {
    for (int end : {out, in})
      if (end >= 0)
        ::close(end);
  }

  int out, in; ///< to read from, and to write to
};

} // namespace

Result<Mpirun> Mpirun::start(const Start &start) {
  const std::string mpirun = findOnPath("mpirun");
  if (mpirun.empty())
    return fail(ErrorCode::E0503, "mpirun is not on the PATH: apt-get install openmpi-bin");
  const bool allHere = start.launcher == Launcher::Local && start.hosts.empty();
  std::vector<std::string> words =
      mpirunWords(start, mpirun, ::geteuid() == 0, allHere && processesReadOneAnother());
  LSTMC_TRY(checkPrograms(start, words[0]));
  std::vector<char *> arguments;
  for (std::string &word : words)
    arguments.push_back(word.data());
  arguments.push_back(nullptr);
  LSTMC_ASSIGN(Pipe output, Pipe::make());
  LSTMC_ASSIGN(Pipe messages, Pipe::make());
  LSTMC_ASSIGN(ForwardedOutput forwarded,
               ForwardedOutput::start(std::exchange(output.out, -1),
                                      std::exchange(messages.out, -1), start.result));
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
    ::dup2(output.in, STDOUT_FILENO);
    ::dup2(messages.in, STDERR_FILENO);
    for (const auto &[name, value] : start.environment)
      ::setenv(name.c_str(), value.c_str(), 1);
    ::execvp(arguments[0], arguments.data());
    ::_exit(127);
  }
  return Mpirun(child, std::move(forwarded));
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
