// cuBLASLt's table for emulated GPUs.
#pragma once

#include "backends/cuda/runtime/CublasLt.h"

namespace lstmc::cuda {

/// Products as operations on the streams of the emulated driver, with the bytes that they use, so
/// that their order is checked. Sums are in another order than ours, as a library's are: the even
/// terms and the odd ones apart, which takes a workspace of the result's size, or, with less,
/// descending. Stricter than the real library: a product with a layout that leaves its memory, of
/// another type than f32, with a factor but 1 and 0, by an algorithm that was chosen for another
/// shape, or by one whose first product is captured, is refused. E0503 where LSTMC_EMU_CUBLASLT is
/// 0, as on machines without the library.
Result<const CublasLt *> emulatedCublasLt();

} // namespace lstmc::cuda
