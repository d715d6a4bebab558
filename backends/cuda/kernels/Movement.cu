#include "backends/cuda/kernels/Movement.h"

namespace lstmc::gpu {

LSTMC_GPU_KERNEL(lstmc_fill, FillArguments, a) {
  for (int64_t i = globalThreadIndex(); i < a.count; i += gridThreads())
    storeBits(a.y, offsetOf(a.y, i), a.bytes, a.value);
}

LSTMC_GPU_KERNEL(lstmc_copy, CopyArguments, a) {
  for (int64_t i = globalThreadIndex(); i < a.count; i += gridThreads())
    storeBits(a.y, offsetOf(a.y, i), a.bytes, loadBits(a.x, offsetOf(a.x, i), a.bytes));
}

// y [A, n, D] = x [A, V, D] at indices [n]
LSTMC_GPU_KERNEL(lstmc_gather, IndexArguments, a) {
  int64_t n = a.y.shape[1], depth = a.y.shape[2];
  for (int64_t i = globalThreadIndex(); i < a.count; i += gridThreads()) {
    int64_t outer = i / (n * depth), which = i / depth % n, d = i % depth;
    int64_t row = inside(indexAt(a.indices, offsetOf(a.indices, which)), a.x.shape[1], a.wrap);
    storeBits(a.y, at(a.y, outer, which, d), a.bytes,
              loadBits(a.x, at(a.x, outer, row, d), a.bytes));
  }
}

LSTMC_GPU_KERNEL(lstmc_one_hot, OneHotArguments, a) {
  int64_t depth = a.y.shape[1];
  for (int64_t i = globalThreadIndex(); i < a.count; i += gridThreads()) {
    bool hit = indexAt(a.indices, at(a.indices, i / depth)) == i % depth;
    storeBits(a.y, at(a.y, i / depth, i % depth), a.bytes, hit ? a.on : a.off);
  }
}

// y [A, D] = x [A, C, D] at indices [A, D]
LSTMC_GPU_KERNEL(lstmc_pick, IndexArguments, a) {
  int64_t depth = a.y.shape[1];
  for (int64_t i = globalThreadIndex(); i < a.count; i += gridThreads()) {
    int64_t outer = i / depth, d = i % depth;
    int64_t c = inside(indexAt(a.indices, at(a.indices, outer, d)), a.x.shape[1], a.wrap);
    storeBits(a.y, at(a.y, outer, d), a.bytes, loadBits(a.x, at(a.x, outer, c, d), a.bytes));
  }
}

// y [A, C, D] = x [A, D] at the picked place, 0 elsewhere
LSTMC_GPU_KERNEL(lstmc_pick_gradient, IndexArguments, a) {
  int64_t classes = a.y.shape[1], depth = a.y.shape[2];
  for (int64_t i = globalThreadIndex(); i < a.count; i += gridThreads()) {
    int64_t outer = i / (classes * depth), c = i / depth % classes, d = i % depth;
    bool hit = inside(indexAt(a.indices, at(a.indices, outer, d)), classes, a.wrap) == c;
    storeBits(a.y, at(a.y, outer, c, d), a.bytes,
              hit ? loadBits(a.x, at(a.x, outer, d), a.bytes) : 0);
  }
}

// x, y [T, B, D], length [B]
LSTMC_GPU_KERNEL(lstmc_sequence_mask, SequenceArguments, a) {
  int64_t batch = a.y.shape[1], depth = a.y.shape[2];
  for (int64_t i = globalThreadIndex(); i < a.count; i += gridThreads()) {
    int64_t t = i / (batch * depth), b = i / depth % batch, d = i % depth;
    bool inside = t < indexAt(a.length, at(a.length, b));
    storeBits(a.y, at(a.y, t, b, d), a.bytes,
              inside ? loadBits(a.x, at(a.x, t, b, d), a.bytes) : a.value);
  }
}

// x [T, B, D], y [B, D]
LSTMC_GPU_KERNEL(lstmc_sequence_last, SequenceArguments, a) {
  int64_t depth = a.y.shape[1];
  for (int64_t i = globalThreadIndex(); i < a.count; i += gridThreads()) {
    int64_t b = i / depth, d = i % depth;
    int64_t last = inside(indexAt(a.length, at(a.length, b)) - 1, a.x.shape[0], false);
    storeBits(a.y, at(a.y, b, d), a.bytes, loadBits(a.x, at(a.x, last, b, d), a.bytes));
  }
}

// x [B, D], y [T, B, D]
LSTMC_GPU_KERNEL(lstmc_sequence_last_gradient, SequenceArguments, a) {
  int64_t batch = a.y.shape[1], depth = a.y.shape[2];
  for (int64_t i = globalThreadIndex(); i < a.count; i += gridThreads()) {
    int64_t t = i / (batch * depth), b = i / depth % batch, d = i % depth;
    bool last = inside(indexAt(a.length, at(a.length, b)) - 1, a.y.shape[0], false) == t;
    storeBits(a.y, at(a.y, t, b, d), a.bytes, last ? loadBits(a.x, at(a.x, b, d), a.bytes) : 0);
  }
}

LSTMC_GPU_KERNEL(lstmc_sequence_reverse, SequenceArguments, a) {
  int64_t steps = a.y.shape[0], batch = a.y.shape[1], depth = a.y.shape[2];
  for (int64_t i = globalThreadIndex(); i < a.count; i += gridThreads()) {
    int64_t t = i / (batch * depth), b = i / depth % batch, d = i % depth;
    int64_t length = indexAt(a.length, at(a.length, b));
    int64_t end = length < steps ? length : steps;
    int64_t from = t < end ? end - 1 - t : t;
    storeBits(a.y, at(a.y, t, b, d), a.bytes, loadBits(a.x, at(a.x, from, b, d), a.bytes));
  }
}

} // namespace lstmc::gpu
