// Gpu.h for nvcc. Nothing is checked here, because the emulated GPU has checked the same source.
#pragma once

#include <cstdint>

#define LSTMC_DEVICE __device__ __forceinline__
#define LSTMC_UNROLL _Pragma("unroll")
#define LSTMC_GPU_KERNEL(NAME, ARGUMENTS, a)                                                       \
  extern "C" __global__ void NAME(const __grid_constant__ ARGUMENTS a)
#define LSTMC_GPU_KERNEL_OF(THREADS, NAME, ARGUMENTS, a)                                           \
  extern "C" __global__ void __launch_bounds__(THREADS, 1) NAME(const __grid_constant__ ARGUMENTS a)

namespace lstmc::gpu {

inline constexpr int kWarp = 32;

LSTMC_DEVICE int threadIndex() { return int(threadIdx.x); }
LSTMC_DEVICE int blockThreads() { return int(blockDim.x); }
LSTMC_DEVICE int64_t blockIndex() { return int64_t(blockIdx.x); }
LSTMC_DEVICE int64_t gridBlocks() { return int64_t(gridDim.x); }
LSTMC_DEVICE int64_t globalThreadIndex() { return blockIndex() * blockThreads() + threadIndex(); }
LSTMC_DEVICE int64_t gridThreads() { return gridBlocks() * blockThreads(); }
// A GPU older than sm_90 has no clusters: each block is one by itself.
LSTMC_DEVICE int clusterBlocks() {
  uint32_t blocks = 1;
#if __CUDA_ARCH__ >= 900
  asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(blocks));
#endif
  return int(blocks);
}
LSTMC_DEVICE int clusterRank() {
  uint32_t rank = 0;
#if __CUDA_ARCH__ >= 900
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
#endif
  return int(rank);
}
LSTMC_DEVICE int laneIndex() { return threadIndex() % kWarp; }
LSTMC_DEVICE int warpIndex() { return threadIndex() / kWarp; }

template <typename T> struct Global {
  T *data;

  LSTMC_DEVICE T load(int64_t i) const { return data[i]; }
  LSTMC_DEVICE void store(int64_t i, T value) const { data[i] = value; }
  LSTMC_DEVICE Global from(int64_t i) const { return {data + i}; }
  LSTMC_DEVICE explicit operator bool() const { return data != nullptr; }
};

extern __shared__ __align__(128) unsigned char sharedMemory[];

template <typename T> struct Shared {
  T *data;

  LSTMC_DEVICE T load(int i) const { return data[i]; }
  LSTMC_DEVICE void store(int i, T value) const { data[i] = value; }
  LSTMC_DEVICE void storeTo(int block, int i, T value) const {
#if __CUDA_ARCH__ >= 900
    static_assert(sizeof(T) == 4);
    const auto own = uint32_t(__cvta_generic_to_shared(data + i));
    uint32_t other;
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(other) : "r"(own), "r"(block));
    asm volatile("st.shared::cluster.u32 [%0], %1;" ::"r"(other),
                 "r"(__builtin_bit_cast(uint32_t, value))
                 : "memory");
#else
    store(i, value);
#endif
  }
};

template <typename T> LSTMC_DEVICE Shared<T> shared(int byteOffset, int) {
  return {reinterpret_cast<T *>(sharedMemory + byteOffset)};
}

LSTMC_DEVICE void syncThreads() { __syncthreads(); }
LSTMC_DEVICE void syncWarp() { __syncwarp(); }
LSTMC_DEVICE void arriveAtCluster() {
#if __CUDA_ARCH__ >= 900
  asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
#endif
}
LSTMC_DEVICE void waitForCluster() {
#if __CUDA_ARCH__ >= 900
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
#else
  __syncthreads();
#endif
}
LSTMC_DEVICE void syncCluster() {
  arriveAtCluster();
  waitForCluster();
}
template <typename T> LSTMC_DEVICE T shuffle(T value, int lane) {
  return __shfl_sync(0xffffffffu, value, lane);
}
template <typename T> LSTMC_DEVICE T shuffleXor(T value, int lanes) {
  return __shfl_xor_sync(0xffffffffu, value, lanes);
}

#define LSTMC_MMA(NAME, SHAPE)                                                                     \
  LSTMC_DEVICE void NAME(float(&c)[4], const uint32_t(&a)[4], const uint32_t(&b)[2]) {             \
    asm volatile("mma.sync.aligned." SHAPE " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "       \
                 "{%0, %1, %2, %3};"                                                               \
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])                                  \
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));              \
  }
LSTMC_MMA(mmaBf16, "m16n8k16.row.col.f32.bf16.bf16.f32")
LSTMC_MMA(mmaFp16, "m16n8k16.row.col.f32.f16.f16.f32")
LSTMC_MMA(mmaTf32, "m16n8k8.row.col.f32.tf32.tf32.f32")
#undef LSTMC_MMA
LSTMC_DEVICE uint32_t bf16Pair(float low, float high) {
  uint32_t pair;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
  return pair;
}
LSTMC_DEVICE uint32_t fp16Pair(float low, float high) {
  uint32_t pair;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
  return pair;
}

LSTMC_DEVICE void storeRelease(Global<uint32_t> flag, int64_t i, uint32_t value) {
  asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(flag.data + i), "r"(value) : "memory");
}
LSTMC_DEVICE void spinUntilAtLeast(Global<uint32_t> flag, int64_t i, uint32_t value) {
  uint32_t found;
  do
    asm volatile("ld.acquire.gpu.global.u32 %0, [%1];"
                 : "=r"(found)
                 : "l"(flag.data + i)
                 : "memory");
  while (found < value);
}

template <typename T>
LSTMC_DEVICE void copyAsync(Shared<T> to, int i, Global<const T> from, int64_t k) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8 || sizeof(T) == 16);
  asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(
                   uint32_t(__cvta_generic_to_shared(to.data + i))),
               "l"(from.data + k), "n"(sizeof(T))
               : "memory");
}
/// Waits for this thread's copies; other threads see the data after a syncThreads().
LSTMC_DEVICE void waitForCopies() { asm volatile("cp.async.wait_all;" ::: "memory"); }

LSTMC_DEVICE float operand(float a) { return a; }
LSTMC_DEVICE float added(float a, float b) { return a + b; }
LSTMC_DEVICE float subtracted(float a, float b) { return a - b; }
LSTMC_DEVICE float multiplied(float a, float b) { return a * b; }
LSTMC_DEVICE float divided(float a, float b) { return a / b; }
LSTMC_DEVICE float narrowed(double a) { return float(a); }
LSTMC_DEVICE float multiplyAdd(float a, float b, float c) { return __fmaf_rn(a, b, c); }
LSTMC_DEVICE float roundToEven(float a) { return rintf(a); }
LSTMC_DEVICE float roundDown(float a) { return floorf(a); }
LSTMC_DEVICE double roundDown(double a) { return floor(a); }
LSTMC_DEVICE float squareRoot(float a) { return __fsqrt_rn(a); }

} // namespace lstmc::gpu
