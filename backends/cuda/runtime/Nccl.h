// NVIDIA's library of messages between GPUs as a table of function pointers, loaded when it is
// asked for, so that no build needs it and an emulated one can take its place.
#pragma once

#include <climits>
#include <string>

#include "backends/cuda/runtime/Driver.h"
#include "backends/cuda/text/LibraryPlaces.h"

namespace lstmc::cuda {

// As the library's binary interface has them.
using NcclResult = int; ///< 0: done
using NcclType = int;
using NcclCommunicator = struct OpaqueCommunicator *;
struct NcclId {
  char bytes[128];
};
/// The first fields, which all versions have: the library takes a shorter structure for that of an
/// older version.
struct NcclConfig {
  size_t size = sizeof(NcclConfig);
  unsigned magic = 0xcafebeef;
  unsigned version = 21400;
  int blocking = INT_MIN; ///< INT_MIN: as the library likes
};

inline constexpr NcclResult kNcclInvalidArgument = 4, kNcclInvalidUsage = 5, kNcclInProgress = 7;
inline constexpr NcclType kNcclByte = 1; ///< without sign

struct Nccl {
#define LSTMC_NCCL(RESULT, FIELD, SYMBOL, PARAMETERS) RESULT(*FIELD) PARAMETERS = nullptr;
#include "backends/cuda/runtime/Nccl.def"
};

/// "2.28.9"; empty if the library does not say.
std::string versionOf(const Nccl &nccl);

/// The first library of these files that has all functions.
/// E0503 says what is missing and where it was looked for.
Result<Nccl> loadNccl(const LibraryPlaces &places);

/// That of this machine, loaded at the first call. E0503 as of loadNccl.
Result<const Nccl *> machineNccl();

} // namespace lstmc::cuda
