// NVIDIA's library of neural networks as a table of function pointers, loaded when it is asked for.
#pragma once

#include <span>
#include <string>

#include "executor/base/Status.h"

namespace lstmc::cuda {

using CudnnResult = int; ///< 0: done

struct Cudnn {
#define LSTMC_CUDNN(RESULT, FIELD, SYMBOL, PARAMETERS) RESULT(*FIELD) PARAMETERS = nullptr;
#include "backends/cuda/runtime/Cudnn.def"
};

/// "9.12.0"
std::string versionOf(const Cudnn &library);

/// The first library of these names (a file, or one that the system finds) that has all functions.
/// E0503 says what is missing and where it was looked for.
Result<Cudnn> loadCudnn(std::span<const std::string> files);

/// That of this machine, loaded at the first call. E0503 as of loadCudnn.
Result<const Cudnn *> machineCudnn();

} // namespace lstmc::cuda
