// cuDNN's table for emulated GPUs.
#pragma once

#include "backends/cuda/runtime/Cudnn.h"

namespace lstmc::cuda {

/// Recurrent layers forward as operations on the streams of the emulated driver, with the bytes
/// that they use, so that their order is checked. Sums are in another order than ours, as a
/// library's are: the even terms and the odd ones apart. Exponentials are those of the host's
/// library. W x of all steps is in the workspace, and the matrices of R lie before those of W in
/// the weights. Stricter than the real library: a layer of another type than f32, of several layers
/// or both directions, with sequences of different lengths, or whose first run is captured, is
/// refused. E0503 where LSTMC_EMU_CUDNN is 0, as on machines without the library.
Result<const Cudnn *> emulatedCudnn();

} // namespace lstmc::cuda
