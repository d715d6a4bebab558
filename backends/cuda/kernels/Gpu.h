// All that a GPU kernel may use of its machine. Kernel sources include this header and no other of
// a machine's: nvcc compiles them for cards, and the host compiler for the emulated GPU, which
// checks every access.
//
// A kernel is declared and defined by
//
//   LSTMC_GPU_KERNEL(scale, ScaleArguments, a) {
//     int64_t i = globalThreadIndex();
//     if (i < a.count)
//       a.y.store(i, a.factor * a.x.load(i));
//   }
//
// with arguments in one struct, passed by value. Memory is reached through accessors alone:
//
//   Global<T>   elements of an operand; Global<const T> is only read
//   Shared<T>   elements of the block's shared memory, from shared<T>(byteOffset, count)
//
// and threads meet only in the functions below. Waiting for a value that another block writes is
// spinUntilAtLeast, and only in a cooperative launch. Arithmetic that must not be contracted or
// approximated is named: multiplyAdd is one rounding, everything else is rounded by itself (nvcc:
// -fmad=false, -ftz=true, -prec-div=true, -prec-sqrt=true).
#pragma once

#include <cstdint>

#ifdef __CUDACC__
#include "backends/cuda/kernels/CudaGpu.h"
#else
#include "backends/cuda/emulated/EmulatedGpu.h"
#endif
