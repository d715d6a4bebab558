#include "backends/registry/HostFacts.h"

#include <fstream>

#include "backends/cpu/runtime/Level.h"
#include "executor/base/HostMemory.h"
#include "executor/base/Processors.h"

namespace lstmc {

HostFacts hostFacts() {
  HostFacts facts;
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; facts.processor.empty() && std::getline(file, line);)
    if (line.starts_with("model name") && line.find(": ") != std::string::npos)
      facts.processor = line.substr(line.find(": ") + 2);
  facts.memoryBytes = hostMemory().bytes;
  facts.level = hostLevel();
  facts.cores = availableProcessors();
  return facts;
}

std::string_view hostLevel() { return cpu::kLevelNames[size_t(cpu::chosenLevel())]; }

} // namespace lstmc
