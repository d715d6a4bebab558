// What of a GPU decides which kernels run on it, and how long they take.
#pragma once

#include <cstdint>
#include <optional>

#include "executor/abi/FastRules.h"

namespace lstmc::cuda {

/// A way of recurrent layers that tests ask for: on the chip in clusters of so many blocks wherever
/// that fits; with 0 through the cache, with -1 step by step. And on the chip in f32, sequences of
/// a cluster and most threads of a block (kOnChipThreads); 0: those which take least.
struct AskedWay {
  int cluster, rows, threads;

  constexpr AskedWay(int cluster, int rows = 0, int threads = 0)
      : cluster(cluster), rows(rows), threads(threads) {}
};

/// As a driver reports it, or the data sheet of a card that is not here.
struct GpuShape {
  int64_t sharedBytes = 99 * 1024; ///< that a block may have; the least of any GPU from sm_80 on
  int multiprocessors = 108;
  int cluster = 1;                      ///< most blocks of a cluster; 1: there are none
  int64_t l2Bytes = 40 << 20;           ///< of the cache that all multiprocessors share
  double clock = 1.41e9;                ///< cycles of a multiprocessor in a second
  double memoryBytesPerSecond = 1.6e12; ///< of the GPU's own memory
  double f64Issue = 2; ///< cycles to begin an operation of f64, where one of f32 takes 1; of no
                       ///< choice, only of times
  /// Of the package that is loaded, not of the GPU: how its products may round what they read.
  FastRules fast;
  /// Where there is none, what is estimated to take less time.
  std::optional<AskedWay> asked = std::nullopt;
  /// For tests: whether exact products of f32 go by tiles. Else what is estimated to take less
  /// time.
  std::optional<bool> tiles = std::nullopt;
};

/// Blocks of a cluster of which a kernel needs no leave of the driver.
inline constexpr int kPortableCluster = 8;

/// Most blocks of a cluster on GPUs of this compute capability (90: 9.0); 1 where there are none.
/// The GPUs for data centres take twice as many as every GPU does, if the driver is asked for it.
/// Source: CUDA C++ Programming Guide 13.0, "Thread Block Clusters".
constexpr int clusterOf(int capability) {
  const bool large = capability == 90 || capability == 100;
  return large ? 2 * kPortableCluster : capability > 90 ? kPortableCluster : 1;
}

/// Source: CUDA C++ Programming Guide 13.0, "Throughput of Native Arithmetic Instructions": the
/// GPUs for data centres have half as many units of f64 as of f32, the others one for 64.
constexpr double f64IssueOf(int capability) {
  return capability == 80 || capability == 90 || capability == 100 ? 2 : 64;
}

} // namespace lstmc::cuda
