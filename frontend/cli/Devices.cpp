// devices: what -d can name on this machine.

#include <sys/sysinfo.h>

#include "backends/cpu/runtime/Level.h"
#include "executor/device/ThreadTeam.h"
#include "frontend/cli/Commands.h"

namespace lstmc::cli {

int devicesCommand(const Options &options, Console &console) {
  struct sysinfo info {};
  sysinfo(&info);
  uint64_t memory = uint64_t(info.totalram) * info.mem_unit;
  std::string level(cpu::kLevelNames[size_t(cpu::chosenLevel())]);
  int cores = availableProcessors();
  if (console.json())
    console.print(nlohmann::ordered_json{
        {"schema", "lstmc.devices/1"},
        {"devices", {{{"name", "cpu:0"}, {"memory_bytes", memory}, {"cores", cores}, {"level", level}, {"links", nlohmann::ordered_json::array()}}}}});
  else
    console.print(fmt::format("{:<8} {:>12} {:>6} {:<8} links\n{:<8} {:>12} {:>6} {:<8} -", "device", "memory", "cores", "level", "cpu:0",
                              fmt::format("{:.1f} GiB", double(memory) / (1 << 30)), cores, level));
  return 0;
}

} // namespace lstmc::cli
