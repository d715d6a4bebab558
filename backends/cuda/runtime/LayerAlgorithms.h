// Which algorithms cuDNN is asked for, to carry out a recurrent layer.
#pragma once

#include <string_view>
#include <vector>

#include "backends/cuda/model/LibraryScratch.h"
#include "backends/cuda/runtime/Cudnn.h"
#include "executor/abi/Gate.h"

namespace lstmc::cuda {

constexpr std::string_view nameOfAlgorithm(int algorithm) {
  return algorithm == kCudnnPersistentSmallH ? "the persistent algorithm for small H"
         : algorithm == kCudnnPersistent     ? "the persistent algorithm"
                                             : "the standard algorithm";
}

/// Most sequences with which the algorithm for small H is asked for: it took less than half of the
/// standard one's time with 16 sequences and 128 units, and up to 5 times as much with 44 and 152.
/// The limit between is chosen. Source: the figures of PyTorch's pull request 62143.
inline constexpr int64_t kMostSequencesOfSmallH = 32;

/// Units up to which that algorithm is there. Source of this and the next: PyTorch,
/// aten/src/ATen/native/cudnn/RNN.cpp.
constexpr bool isSmallH(RnnMode mode, const LibraryLayer &l) {
  const bool gated = mode == RnnMode::Lstm || mode == RnnMode::Gru;
  return l.units <= (gated ? 192 : 384) && l.batch <= kMostSequencesOfSmallH;
}

/// Where the persistent algorithm was found to be no slower than the standard one, in 16 bits.
constexpr bool isPersistent(RnnMode mode, const LibraryLayer &l, int multiprocessors) {
  const bool whole = l.units % 128 == 0 && l.units <= 1024 && l.inputs % 128 == 0;
  const bool rows = l.batch % 8 == 0 && l.batch <= 128;
  const bool slow =
      mode == RnnMode::Gru || (mode != RnnMode::Lstm && l.batch >= 96 && l.units >= 896);
  return whole && rows && !slow && multiprocessors >= 98;
}

/// Numbers of algorithms, the one that is asked for first in front. A rule of shape and card, so
/// that bits depend on no time that was measured. The last one takes every shape.
inline std::vector<int> layerAlgorithms(RnnMode mode, const LibraryLayer &layer,
                                        int multiprocessors) {
  std::vector<int> asked;
  if (isSmallH(mode, layer))
    asked.push_back(kCudnnPersistentSmallH);
  if (isPersistent(mode, layer, multiprocessors))
    asked.push_back(kCudnnPersistent);
  asked.push_back(kCudnnStandard);
  return asked;
}

} // namespace lstmc::cuda
