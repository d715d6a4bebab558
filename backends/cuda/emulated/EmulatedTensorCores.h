// What tensor cores compute, in plain loops: kernels/TensorCores.h says which lane has what.
#pragma once

#include <cstdint>

namespace lstmc::gpu::tensor {

/// What a lane gives; `c` takes its numbers of the result.
struct Part {
  float (&c)[4];
  const uint32_t (&a)[4];
  const uint32_t (&b)[2];
};

/// For the parts of 32 lanes.
void multiplyBf16(void *const *parts);
void multiplyFp16(void *const *parts);
void multiplyTf32(void *const *parts);

/// To the nearest, of two to the even one; any NaN becomes 0x7fff.
uint16_t bf16Bits(float value);
uint16_t fp16Bits(float value);

} // namespace lstmc::gpu::tensor
