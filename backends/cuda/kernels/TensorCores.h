// Products of tensor cores, for each type that --fast rounds to: c [16, 8] += a [16, kDepth] b
// [kDepth, 8], with the operands rounded to the type and the sum in f32.
//
// A word of an operand has kPack neighbours along the depth. Lane l, of group g = l / 4 and place
// t = l % 4, has
//   of a  words (row, word): (g, t), (g + 8, t), (g, t + 4), (g + 8, t + 4)
//   of b  words (word, column): (t, g), (t + 4, g)
//   of c  numbers (row, column): (g, 2 t), (g, 2 t + 1), (g + 8, 2 t), (g + 8, 2 t + 1)
// Source: PTX ISA 8.8, "Matrix fragments for mma.m16n8k16" and "mma.m16n8k8".
//
// A product of two rounded numbers is exact in f32. The emulated GPU adds the products to c one by
// one, in the order of the depth, each sum rounded to the nearest; what a GPU does is not
// documented, but does not change from run to run.
#pragma once

#include <bit>

#include "backends/cuda/kernels/Gpu.h"

namespace lstmc::gpu {

struct Bf16 {
  static constexpr int kPack = 2, kDepth = 16;
  static LSTMC_DEVICE uint32_t word(float low, float high) { return bf16Pair(low, high); }
  static LSTMC_DEVICE void multiply(float (&c)[4], const uint32_t (&a)[4], const uint32_t (&b)[2]) {
    mmaBf16(c, a, b);
  }
};

/// Numbers from 65,520 on become infinite, those up to 2^-25 zero.
struct Fp16 {
  static constexpr int kPack = 2, kDepth = 16;
  static LSTMC_DEVICE uint32_t word(float low, float high) { return fp16Pair(low, high); }
  static LSTMC_DEVICE void multiply(float (&c)[4], const uint32_t (&a)[4], const uint32_t (&b)[2]) {
    mmaFp16(c, a, b);
  }
};

/// An f32 whose last 13 bits are 0.
struct Tf32 {
  static constexpr int kPack = 1, kDepth = 8;
  /// To the nearest, of two to the even one; a conversion that does so is new in sm_90.
  static LSTMC_DEVICE uint32_t word(float value, float) {
    const uint32_t bits = std::bit_cast<uint32_t>(value);
    if ((bits & 0x7fffffffu) > 0x7f800000u)
      return 0x7fffe000u;
    return (bits + 0xfffu + (bits >> 13 & 1)) & ~0x1fffu;
  }
  static LSTMC_DEVICE void multiply(float (&c)[4], const uint32_t (&a)[4], const uint32_t (&b)[2]) {
    mmaTf32(c, a, b);
  }
};

} // namespace lstmc::gpu
