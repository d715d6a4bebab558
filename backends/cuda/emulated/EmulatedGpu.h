// Gpu.h for the host compiler: every access and every barrier goes through the emulated machine,
// which checks it.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <source_location>
#include <type_traits>

#include "backends/cuda/emulated/EmulatedTensorCores.h"
#include "backends/cuda/kernels/Flushing.h"

#define LSTMC_DEVICE inline
#define LSTMC_UNROLL
#define LSTMC_GPU_KERNEL(NAME, ARGUMENTS, a) void NAME(const ARGUMENTS &a)
#define LSTMC_GPU_KERNEL_OF(THREADS, NAME, ARGUMENTS, a) void NAME(const ARGUMENTS &a)

namespace lstmc::gpu {

using Where = std::source_location;

inline constexpr int kWarp = 32;

namespace machine {

// Position of the running thread.
int threadIndex();
int blockThreads();
int64_t blockIndex();
int64_t gridBlocks();
unsigned char *sharedMemory();
int sharedBytes();

/// Ends the launch with an error unless this thread may now read or write the bytes. Returns where
/// they are on the host.
const void *readGlobal(const void *address, int bytes, const Where &where);
void *writeGlobal(const void *address, int bytes, const Where &where);
void readShared(int offset, int bytes, const Where &where);
void writeShared(int offset, int bytes, const Where &where);
int clusterBlocks();
/// The shared memory of a block of the cluster, for a write.
unsigned char *writeSharedOf(int block, int offset, int bytes, const Where &where);

void syncThreads(const Where &where);
void syncWarp(const Where &where);
void arriveAtCluster(const Where &where);
void waitForCluster(const Where &where);
uint64_t exchange(uint64_t bits, int lane, const Where &where);
/// Once all lanes of the warp are there, `work` is done with what each has given.
using WarpWork = void (*)(void *const *parts);
void together(void *part, WarpWork work, const Where &where);

void storeRelease(uint32_t *flag, uint32_t value, const Where &where);
void spinUntilAtLeast(const uint32_t *flag, uint32_t value, const Where &where);

void copyAsync(int offset, const void *from, int bytes, const Where &where);
void waitForCopies(const Where &where);

} // namespace machine

inline int threadIndex() { return machine::threadIndex(); }
inline int blockThreads() { return machine::blockThreads(); }
inline int64_t blockIndex() { return machine::blockIndex(); }
inline int64_t gridBlocks() { return machine::gridBlocks(); }
inline int64_t globalThreadIndex() { return blockIndex() * blockThreads() + threadIndex(); }
inline int64_t gridThreads() { return gridBlocks() * blockThreads(); }
inline int clusterBlocks() { return machine::clusterBlocks(); }
inline int clusterRank() { return int(blockIndex() % clusterBlocks()); }
inline int laneIndex() { return threadIndex() % kWarp; }
inline int warpIndex() { return threadIndex() / kWarp; }

template <typename T> struct Global {
  T *data;

  std::remove_const_t<T> load(int64_t i, Where where = Where::current()) const {
    return *static_cast<const T *>(machine::readGlobal(data + i, sizeof(T), where));
  }
  void store(int64_t i, T value, Where where = Where::current()) const {
    *static_cast<T *>(machine::writeGlobal(data + i, sizeof(T), where)) = value;
  }
  Global from(int64_t i) const { return {data + i}; }
  explicit operator bool() const { return data != nullptr; }
};

template <typename T> struct Shared {
  int begin, count;

  T load(int i, Where where = Where::current()) const {
    T value;
    machine::readShared(place(i), sizeof(T), where);
    std::memcpy(&value, machine::sharedMemory() + place(i), sizeof(T));
    return value;
  }
  void store(int i, T value, Where where = Where::current()) const {
    machine::writeShared(place(i), sizeof(T), where);
    std::memcpy(machine::sharedMemory() + place(i), &value, sizeof(T));
  }
  /// Into the shared memory of another block of the cluster, at the same place.
  void storeTo(int block, int i, T value, Where where = Where::current()) const {
    unsigned char *memory = machine::writeSharedOf(block, place(i), sizeof(T), where);
    std::memcpy(memory + place(i), &value, sizeof(T));
  }
  /// An index out of range becomes an offset outside of all shared memory.
  int place(int i) const { return i >= 0 && i < count ? begin + i * int(sizeof(T)) : -1; }
};

template <typename T> inline Shared<T> shared(int byteOffset, int count) {
  return {byteOffset, count};
}

inline void syncThreads(Where where = Where::current()) { machine::syncThreads(where); }
inline void syncWarp(Where where = Where::current()) { machine::syncWarp(where); }
inline void arriveAtCluster(Where where = Where::current()) { machine::arriveAtCluster(where); }
inline void waitForCluster(Where where = Where::current()) { machine::waitForCluster(where); }
inline void syncCluster(Where where = Where::current()) {
  arriveAtCluster(where);
  waitForCluster(where);
}
template <typename T> inline T shuffle(T value, int lane, Where where = Where::current()) {
  uint64_t bits = 0;
  static_assert(sizeof(T) <= sizeof(bits));
  std::memcpy(&bits, &value, sizeof(T));
  bits = machine::exchange(bits, lane, where);
  std::memcpy(&value, &bits, sizeof(T));
  return value;
}
template <typename T> inline T shuffleXor(T value, int lanes, Where where = Where::current()) {
  return shuffle(value, laneIndex() ^ lanes, where);
}

inline void mmaBf16(float (&c)[4], const uint32_t (&a)[4], const uint32_t (&b)[2],
                    Where where = Where::current()) {
  tensor::Part part = {c, a, b};
  machine::together(&part, tensor::multiplyBf16, where);
}
inline void mmaFp16(float (&c)[4], const uint32_t (&a)[4], const uint32_t (&b)[2],
                    Where where = Where::current()) {
  tensor::Part part = {c, a, b};
  machine::together(&part, tensor::multiplyFp16, where);
}
inline void mmaTf32(float (&c)[4], const uint32_t (&a)[4], const uint32_t (&b)[2],
                    Where where = Where::current()) {
  tensor::Part part = {c, a, b};
  machine::together(&part, tensor::multiplyTf32, where);
}
inline uint32_t bf16Pair(float low, float high) {
  return tensor::bf16Bits(low) | uint32_t(tensor::bf16Bits(high)) << 16;
}
inline uint32_t fp16Pair(float low, float high) {
  return tensor::fp16Bits(low) | uint32_t(tensor::fp16Bits(high)) << 16;
}

inline void storeRelease(Global<uint32_t> flag, int64_t i, uint32_t value,
                         Where where = Where::current()) {
  machine::storeRelease(flag.data + i, value, where);
}
inline void spinUntilAtLeast(Global<uint32_t> flag, int64_t i, uint32_t value,
                             Where where = Where::current()) {
  machine::spinUntilAtLeast(flag.data + i, value, where);
}

template <typename T>
inline void copyAsync(Shared<T> to, int i, Global<const T> from, int64_t k,
                      Where where = Where::current()) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8 || sizeof(T) == 16);
  machine::copyAsync(to.place(i), from.data + k, sizeof(T), where);
}
inline void waitForCopies(Where where = Where::current()) { machine::waitForCopies(where); }

// The host keeps denormals while it runs a kernel (Machine.h), so f32 is flushed by hand.
inline float operand(float a) { return flushing::flushed(a); }
inline float added(float a, float b) { return flushing::sum(a, b); }
inline float subtracted(float a, float b) { return flushing::difference(a, b); }
inline float multiplied(float a, float b) { return flushing::product(a, b); }
inline float divided(float a, float b) { return flushing::quotient(a, b); }
inline float multiplyAdd(float a, float b, float c) { return flushing::multiplyAdd(a, b, c); }
inline float narrowed(double a) { return flushing::narrowed(a); }
inline float roundToEven(float a) { return std::nearbyint(operand(a)); }
inline float roundDown(float a) { return std::floor(operand(a)); }
inline double roundDown(double a) { return std::floor(a); }
inline float squareRoot(float a) { return flushing::root(a); }

} // namespace lstmc::gpu
