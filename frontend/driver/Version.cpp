#include "frontend/driver/Version.h"

#include <fmt/format.h>

#include "llvm/Config/llvm-config.h"

#include "backends/registry/HostFacts.h"
#include "executor/abi/Version.h"
#include "frontend/driver/BuildId.h"

namespace lstmc::driver {

std::string versionLine() { return fmt::format("lstmc {} ({})", kVersion, kBuildId); }

std::string versionDetails() {
  return fmt::format("{}\npackage abi {}\ncpu level {}\nLLVM {}\nfmt {}", versionLine(),
                     kPackageAbi, hostLevel(), LLVM_VERSION_STRING, FMT_VERSION);
}

} // namespace lstmc::driver
