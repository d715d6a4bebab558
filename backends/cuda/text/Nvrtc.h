// NVIDIA's run-time compiler, loaded when it is asked for, so that no build needs it.
#pragma once

#include <memory>
#include <string>

#include "backends/cuda/text/LibraryPlaces.h"
#include "backends/cuda/text/TextCompiler.h"

namespace lstmc::cuda {

// As the library's binary interface has them.
using NvrtcResult = int; ///< 0: done
using NvrtcProgram = struct OpaqueNvrtcProgram *;

struct Nvrtc {
#define LSTMC_NVRTC(FIELD, SYMBOL, PARAMETERS) NvrtcResult(*FIELD) PARAMETERS = nullptr;
#include "backends/cuda/text/Nvrtc.def"

  std::string where; ///< the file that was loaded
};

/// The first library of these files that has all functions.
/// E0503 says what is missing and where it was looked for.
Result<Nvrtc> loadNvrtc(const LibraryPlaces &places);

/// The compiler over these functions, at code of the architecture where the library knows it, else
/// at text for the newest that it knows, which the driver compiles.
std::unique_ptr<TextCompiler> nvrtcCompiler(Nvrtc nvrtc);

/// That of this machine, for a driver of this version (13000): not of a newer major version, whose
/// code the driver might refuse. Loaded at the first call. E0503 as of loadNvrtc.
Result<const TextCompiler *> machineCompiler(int driverVersion);

} // namespace lstmc::cuda
