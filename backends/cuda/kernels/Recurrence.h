// Arguments of the recurrent kernels, one layer in one direction.
#pragma once

#include "backends/cuda/kernels/Operand.h"
#include "executor/abi/Gate.h"

namespace lstmc::gpu {

/// Up to three axes of an operand; `data` is null if it is absent.
struct Sequence {
  void *data;
  int64_t strides[3];

  template <typename T> LSTMC_DEVICE Global<T> as() const { return {static_cast<T *>(data)}; }

  LSTMC_DEVICE explicit operator bool() const { return data != nullptr; }
};

inline constexpr int kMaxGates = 4;

struct LayerShape {
  int64_t steps, batch, inputs, units;
  RnnMode mode;
  int32_t gates;
  bool reverse;

  LSTMC_DEVICE int64_t step(int64_t s) const { return reverse ? steps - 1 - s : s; }
};

/// A block advances kRows sequences through all steps and does not synchronise with other blocks. h
/// and c are in its shared memory. Weights are read through the cache at each step, which works for
/// weights of any size.
struct RnnForwardArguments {
  LayerShape shape;
  Sequence x, w, r, bi, bh, h0, c0, y, hN, cN, gates, cells, before;
  Operand length;
  /// W x [T, B, gates * units] where a product has made it, in f32; there are no inputs then. It
  /// may be where the gates go.
  Sequence projected = {};
};
struct RnnBackwardArguments {
  LayerShape shape;
  Sequence gates, cells, y, h0, c0, before, rt, dy, dhN, dcN, dgates, dhidden, dh0, dc0;
  Operand length;
};

/// Number of sequences per block.
inline constexpr int kRows = 4;

/// On the chip, a cluster advances a few sequences, and each of its blocks has a share of the
/// units: it keeps the weights that lead to them, and writes their h, or backward the gradients of
/// their gates, into the shared memory of all blocks. So a step has one barrier, of the cluster,
/// and clusters do not wait for one another.
struct OnChipShape {
  int32_t share; ///< units of a block; the last blocks may have fewer, or none
};
/// Steps [begin, end), in the order in which they are taken. W x of them is there already: a
/// product has made it.
struct RnnForwardOnChipArguments {
  RnnForwardArguments layer;
  OnChipShape chip;
  int64_t begin, end;
  Sequence projected; ///< [T, B, G * H]; may be `gates`: a thread reads before it writes
};
struct RnnBackwardOnChipArguments {
  RnnBackwardArguments layer;
  OnChipShape chip;
};

/// Numbers in shared memory: h before and after the step, and c: [3, rows, units].
constexpr int64_t forwardSharedNumbers(int64_t rows, int64_t units) { return 3 * rows * units; }
/// dh and dc [2, rows, units], and the gradients of R h + bh [rows, gates * units].
constexpr int64_t backwardSharedNumbers(int64_t rows, int64_t units, int64_t gates) {
  return rows * units * (2 + gates);
}

LSTMC_GPU_KERNEL(lstmc_rnn_forward_1_f32, RnnForwardArguments, a);
LSTMC_GPU_KERNEL(lstmc_rnn_forward_4_f32, RnnForwardArguments, a);
LSTMC_GPU_KERNEL(lstmc_rnn_forward_1_f64, RnnForwardArguments, a);
LSTMC_GPU_KERNEL(lstmc_rnn_forward_4_f64, RnnForwardArguments, a);
LSTMC_GPU_KERNEL(lstmc_rnn_backward_1_f32, RnnBackwardArguments, a);
LSTMC_GPU_KERNEL(lstmc_rnn_backward_4_f32, RnnBackwardArguments, a);
LSTMC_GPU_KERNEL(lstmc_rnn_backward_1_f64, RnnBackwardArguments, a);
LSTMC_GPU_KERNEL(lstmc_rnn_backward_4_f64, RnnBackwardArguments, a);

} // namespace lstmc::gpu
