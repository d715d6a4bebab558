// What this machine is, and which kernels of the fast engine it takes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace lstmc {

struct HostFacts {
  std::string processor; ///< as the kernel calls it; may be empty
  std::string level;     ///< of the kernels used: scalar, avx2, avx512
  int cores = 0;
  uint64_t memoryBytes = 0;
};

HostFacts hostFacts();

/// The level alone, without a look at the system.
std::string_view hostLevel();

} // namespace lstmc
