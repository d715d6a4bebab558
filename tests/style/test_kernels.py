#!/usr/bin/env python3
"""kernels.py finds accesses of the GPU that bypass Gpu.h, and nothing in sources that use it."""
import unittest

from kernels import problems

FOUND = ["__shared__ float s[32];", "  __syncthreads();",
         "x = __expf(y);", "x = __shfl_xor_sync(mask, y, 1);",
         "int i = threadIdx.x;", "n = gridDim.x * blockDim.x;",
         "__global__ void __cluster_dims__(8, 1, 1) k() {}", "void __launch_bounds__(256) k();",
         "k<<<1, 32>>>();", 'asm volatile("bar.sync 0;");', "namespace cg = cooperative_groups;",
         "#include <cuda_fp16.h>", "atomicAdd(p, 1);", "while (true)", "for (;;)", "y = tanhf(x);",
         "y = std::exp(x);",
         "y = fma(a, b, c);", "const float *__restrict__ p", '__asm__ volatile("bar.sync 0;");',
         '__asm("nop;");', "#include <mma.h>",
         "#include <cub/cub.cuh>", "#include <math_constants.h>", "#include <cmath>",
         "# include <cstdio>", '#include "cuda_runtime.h"',
         '#include "backends/cuda/emulated/Machine.h"', "cub::BlockReduce<float, 32> all;",
         "cuda::atomic_ref<int> all(x);", "nvcuda::wmma::load_matrix_sync(a, p, 16);",
         "y = std::floor(x);", "y = std::cbrt(x);", "y = std::fmod(a, b);", "y = rintf(x);",
         "y = fabsf(x);", "y = fmaxf(a, b);", "y = acosh(x);", "y = std::hypot(a, b);",
         "y = llroundf(x);", "y = rsqrtf(x);", "y = __frcp_rn(x);", "t = clock64();",
         "__nanosleep(20);", "while (flag == 0) {}", "while (flags.load(0) < n)  ;",
         "y = a.x.data[i];", "y = *(a.x.data + i);", "y = a.x.data [ i ];",
         "y = *a.x.data;", "y = *reinterpret_cast<const float *>(at);"]
CLEAN = ["// __shared__ is what shared<float>() stands for",
         "Shared<float> s = shared<float>(0, blockThreads());",
         "syncThreads();", "y = multiplyAdd(a, b, c);", "return __builtin_bit_cast(float, bits);",
         "int64_t expected(int64_t rows);", "LSTMC_GPU_KERNEL(lstmc_fill, FillArguments, a) {",
         "for (int i = 0; i < n; ++i)", "while (left > 0) {", "#include <cstdint>",
         "#include <bit>", '#include "backends/cuda/kernels/Operand.h"',
         '#include "executor/abi/ScalarOps.def"',
         "if (!length.data)", "const bool whole = alignedQuads(x.data) && apart == 1;",
         "a.begin.data ? load(0) : V{0}", "return {reinterpret_cast<const Quad *>(from.data)};",
         "y = roundDown(x);", "y = squareRoot(x);", "return absolute(x);"]


class Kernels(unittest.TestCase):
    def test_what_is_found(self):
        for line in FOUND:
            self.assertEqual(
                [(number, text) for number, text, _ in problems("int a;\n" + line)][:1],
                [(2, line.strip())])

    def test_what_is_clean(self):
        for line in CLEAN:
            self.assertEqual(problems(line), [])


if __name__ == "__main__":
    unittest.main()
