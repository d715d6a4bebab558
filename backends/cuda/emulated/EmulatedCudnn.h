// cuDNN's table for emulated GPUs.
#pragma once

#include "backends/cuda/runtime/Cudnn.h"

namespace lstmc::cuda {

/// Recurrent layers forward as operations on the streams of the emulated driver, with the bytes
/// that they use, so that their order is checked. Sums are in another order than ours, as a
/// library's are, and in one of its own for each algorithm: the terms in turn go to 2 sums (the
/// standard one), 3 (that for small H) or 4 (the persistent one). Exponentials are those of the
/// host's library. W x of all steps is in the workspace, and the matrices of R lie before those of
/// W in the weights, but for small H after them. The algorithm for small H takes up to 192 units
/// (384 of a layer without gates), the persistent one multiples of 128 units and inputs, up to 1024
/// units, and 8 to 128 sequences in eights; other sizes are refused when the workspace is asked
/// for. As those of the real library, both take only layers with both biases. Stricter than the
/// real library: a layer of another type than f32, of several layers or both directions, with
/// sequences of different lengths, or whose first run is captured, is refused.
/// LSTMC_EMU_CUDNN_REFUSES=NUMBER names an algorithm that is refused when a layer is run, and not
/// before. E0503 where LSTMC_EMU_CUDNN is 0, as on machines without the library.
Result<const Cudnn *> emulatedCudnn();

} // namespace lstmc::cuda
