// The only interface of a GPU kernel to the machine. Kernel sources include this header and no
// other header of a machine. nvcc compiles them for GPUs, and the host compiler for the emulated
// GPU, which checks every access.
//
// A kernel is declared and defined by
//
//   LSTMC_GPU_KERNEL(scale, ScaleArguments, a) {
//     int64_t i = globalThreadIndex();
//     if (i < a.count)
//       a.y.store(i, multiplied(a.factor, a.x.load(i)));
//   }
//
// with arguments in one struct, passed by value. LSTMC_GPU_KERNEL_OF names the most threads that a
// block has, so that the compiler may give them all registers there are; LSTMC_UNROLL before a loop
// keeps an array in registers that the loop indexes. Memory is reached only through accessors:
//
//   Global<T>   elements of an operand; Global<const T> is read-only
//   Shared<T>   elements of the block's shared memory, from shared<T>(byteOffset, count)
//
// and threads synchronise only in the functions below. spinUntilAtLeast waits for a value that
// another block writes, and works only in a cooperative launch. Blocks of a cluster meet in
// syncCluster and write one another's shared memory by Shared<T>::storeTo. Its two halves are
// arriveAtCluster, which lets others see what was done before it, and waitForCluster; between them
// a thread may do what no other thread looks at before the next barrier. All 32 lanes of a warp
// meet in mmaBf16, mmaFp16 and mmaTf32, which add a product of small matrices to c
// (TensorCores.h). No kernel needs a vote of a warp, so there is none. Every operation is rounded
// by itself, and multiplyAdd once (nvcc: -fmad=false, -ftz=true, -prec-div=true, -prec-sqrt=true).
//
// Operations on f32 have names, because a GPU flushes denormals there and the emulated GPU does it
// by hand: added, subtracted, multiplied, divided, multiplyAdd, squareRoot, roundToEven, roundDown,
// narrowed (from f64), and operand, for what is compared. Neither flushes f64: kernels have Double
// (Double.h) for that.
#pragma once

#include <cstdint>

#ifdef __CUDACC__
#include "backends/cuda/kernels/CudaGpu.h"
#else
#include "backends/cuda/emulated/EmulatedGpu.h"
#endif

namespace lstmc::gpu {

double multiplyAdd(double, double, double) = delete; // it would not be flushed
double squareRoot(double) = delete;

} // namespace lstmc::gpu
