// doctor: what of this machine lstmc can use, and what brings the rest.

#include <cstdlib>
#include <fstream>

#include <sys/resource.h>

#include "backends/registry/Accelerators.h"
#include "backends/registry/HostFacts.h"
#include "executor/base/HostMemory.h"
#include "executor/base/Processors.h"
#include "executor/ranks/OpenWire.h"
#include "frontend/cli/Commands.h"
#include "frontend/cli/DoctorHosts.h"
#include "frontend/launch/Mpirun.h"
#include "passes/planning/rates/MachineRates.h"

namespace lstmc::cli {

namespace {

/// One question: whether it is here, what was found, and what brings it.
struct Finding {
  std::string what;
  bool here;
  std::string found, remedy;
};

std::string firstLine(const char *file) {
  std::string line;
  std::ifstream stream(file);
  std::getline(stream, line);
  return line;
}

std::string gib(double bytes) { return fmt::format("{:.1f} GiB", bytes / (1 << 30)); }

Finding processor() {
  const HostFacts host = hostFacts();
  return {"processor", host.level != "scalar",
          fmt::format("{}, {}, {}", host.processor, host.level, defaultThreadsText()),
          "kernels are fast with AVX2 and FMA: another machine, or LSTMC_CPU_LEVEL not set to "
          "scalar"};
}

Finding memoryFinding() {
  const HostMemory memory = hostMemory();
  return {"memory", memory.free > uint64_t(1) << 30,
          fmt::format("{} free of {}{}", gib(double(memory.free)), gib(double(memory.bytes)),
                      memory.limitedBy.empty() ? "" : ", by " + memory.limitedBy),
          "lstmc plan NET says what a network needs"};
}

Finding hugePages() {
  const std::string mode = firstLine("/sys/kernel/mm/transparent_hugepage/enabled");
  const bool here = mode.find("[never]") == std::string::npos && !mode.empty();
  return {"huge pages", here, mode.empty() ? "not in this kernel" : mode,
          "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled"};
}

/// A limit of the shell, and the letter that `ulimit` has for it.
Finding limit(const char *what, __rlimit_resource resource, rlim_t want, char letter) {
  rlimit now{};
  ::getrlimit(resource, &now);
  auto text = [](rlim_t value) {
    return value == RLIM_INFINITY ? "unlimited" : std::to_string(value);
  };
  return {what, now.rlim_cur >= want, text(now.rlim_cur),
          fmt::format("ulimit -{} {}", letter, text(want))};
}

Finding mpi() {
  const Result<std::string> library = ranks::findMpiLibrary();
  const std::string mpirun = launch::findOnPath("mpirun");
  return {"MPI", library.ok() && !mpirun.empty(),
          fmt::format("{}, {}", mpirun.empty() ? "no mpirun" : mpirun,
                      library.ok() ? *library : "no liblstmc-mpi.so"),
          "apt-get install libopenmpi-dev openmpi-bin, then build lstmc again"};
}

Finding program(const char *what, const char *name, const char *package) {
  const std::string path = launch::findOnPath(name);
  return {what, !path.empty(), path.empty() ? fmt::format("no {}", name) : path,
          fmt::format("apt-get install {}", package)};
}

Finding rates() {
  const int threads = defaultThreads();
  const bool here = planning::machineOf(threads).measuredThreads > 0;
  return {"forecasts", here,
          here ? fmt::format("measured with {} threads", threads) : "this machine is not measured",
          "lstmc bench MODEL --calibrate, or the first plan or train"};
}

std::vector<Finding> findings() {
  std::vector<Finding> all = {processor(),
                              memoryFinding(),
                              hugePages(),
                              limit("open files", RLIMIT_NOFILE, 1024, 'n'),
                              limit("processes", RLIMIT_NPROC, 1024, 'u'),
                              limit("address space", RLIMIT_AS, RLIM_INFINITY, 'v'),
                              mpi(),
                              program("ssh", "ssh", "openssh-client"),
                              program("pictures", "dot", "graphviz")};
  for (const AcceleratorFinding &finding : acceleratorFindings())
    all.push_back({finding.what, finding.here, finding.found, finding.remedy});
  all.push_back(rates());
  return all;
}

nlohmann::ordered_json asJson(const std::vector<Finding> &all) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const Finding &finding : all) {
    nlohmann::ordered_json row = {
        {"what", finding.what}, {"here", finding.here}, {"found", finding.found}};
    if (!finding.here)
      row["remedy"] = finding.remedy;
    rows.push_back(row);
  }
  return {{"schema", "lstmc.doctor/1"}, {"findings", rows}};
}

} // namespace

CommandResult doctorCommand(const Options &options, Console &console) {
  if (options.hosts)
    return doctorHosts(options, console);
  const std::vector<Finding> all = findings();
  if (console.json()) {
    console.print(asJson(all));
    return ExitCode::Ok;
  }
  for (const Finding &finding : all) {
    console.print(fmt::format("{:<8} {:<14} {}", finding.here ? "here" : "missing", finding.what,
                              finding.found));
    if (!finding.here)
      console.print(fmt::format("{:24}{}", "", finding.remedy));
  }
  return ExitCode::Ok;
}

} // namespace lstmc::cli
