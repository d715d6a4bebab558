// The kernels fill and copy: whole rows if they are contiguous, blocks if a copy transposes.
#include <cstring>

#include "backends/cpu/runtime/KernelTable.h"
#include "backends/cpu/runtime/RowMoves.h"
#include "backends/cpu/runtime/StridedWalk.h"
#include "backends/cpu/runtime/TileCopy.h"

namespace lstmc::cpu::LSTMC_CPU_NAMESPACE {

namespace {

constexpr int64_t kPieceBytes = 32 << 10; ///< bytes of a row that a worker handles at a time
constexpr int64_t kBlock = 32;            ///< rows and columns of a block that is transposed

using Quad = float __attribute__((vector_size(16)));

/// to[j * toStride + i] = from[i * fromStride + j] for a 4 by 4 block of 4-byte elements. Moves
/// bits and does no arithmetic.
void transpose4(float *to, int64_t toStride, const float *from, int64_t fromStride) {
  auto row = [&](int64_t i) {
    Quad q;
    std::memcpy(&q, from + i * fromStride, sizeof(q));
    return q;
  };
  Quad r0 = row(0), r1 = row(1), r2 = row(2), r3 = row(3);
  Quad a = __builtin_shufflevector(r0, r1, 0, 4, 1, 5),
       b = __builtin_shufflevector(r0, r1, 2, 6, 3, 7);
  Quad c = __builtin_shufflevector(r2, r3, 0, 4, 1, 5),
       d = __builtin_shufflevector(r2, r3, 2, 6, 3, 7);
  auto put = [&](int64_t j, Quad q) { std::memcpy(to + j * toStride, &q, sizeof(q)); };
  put(0, __builtin_shufflevector(a, c, 0, 1, 4, 5));
  put(1, __builtin_shufflevector(a, c, 2, 3, 6, 7));
  put(2, __builtin_shufflevector(b, d, 0, 1, 4, 5));
  put(3, __builtin_shufflevector(b, d, 2, 3, 6, 7));
}

/// to[j * toStride + i] = from[i * fromStride + j], i < rows, j < columns, both at most kBlock.
template <typename T>
void transposeBlock(T *to, int64_t toStride, const T *from, int64_t fromStride, int64_t rows,
                    int64_t columns) {
  int64_t wholeRows = 0, wholeColumns = 0;
  if constexpr (sizeof(T) == 4) {
    wholeRows = rows / 4 * 4;
    wholeColumns = columns / 4 * 4;
    for (int64_t j = 0; j < wholeColumns; j += 4)
      for (int64_t i = 0; i < wholeRows; i += 4)
        transpose4(reinterpret_cast<float *>(to + j * toStride + i), toStride,
                   reinterpret_cast<const float *>(from + i * fromStride + j), fromStride);
  }
  for (int64_t j = 0; j < columns; ++j)
    for (int64_t i = j < wholeColumns ? wholeRows : 0; i < rows; ++i)
      to[j * toStride + i] = from[i * fromStride + j];
}

template <typename T> void copyAs(const Tensor &x, const Tensor &y, Worker &worker) {
  auto *from = x.as<const T>();
  auto *to = y.as<T>();
  const Tensor *views[2] = {&y, &x};
  StridedWalk<2> walk(views, true);
  if (walk.total == 0)
    return;
  if (walk.rank == 0) {
    if (worker.index == 0)
      *to = *from;
    return;
  }
  int inner = walk.rank - 1;
  int64_t length = walk.shape[inner];
  int64_t toStep = walk.strides[0][inner], fromStep = walk.strides[1][inner];

  int turned = -1;
  if (toStep == 1 && fromStep != 1)
    for (int d = 0; d < inner; ++d)
      if (walk.strides[1][d] == 1)
        turned = d;
  if (turned >= 0) {
    // Dimension `turned` is contiguous in x, the innermost one in y: copy blocks of both.
    int64_t columns = walk.shape[turned], columnStep = walk.strides[0][turned];
    int64_t downBlocks = ceilDivide(length, kBlock), acrossBlocks = ceilDivide(columns, kBlock);
    walk.shape[turned] = acrossBlocks;
    walk.shape[inner] = downBlocks;
    walk.strides[0][turned] *= kBlock;
    walk.strides[1][turned] *= kBlock;
    walk.strides[0][inner] *= kBlock;
    walk.strides[1][inner] *= kBlock;
    int64_t before = 1; // dimensions between the two
    for (int d = turned + 1; d < walk.rank; ++d)
      before *= walk.shape[d];
    int64_t blocks = 1;
    for (int d = 0; d < walk.rank; ++d)
      blocks *= walk.shape[d];
    Share share(blocks, worker.index, worker.count);
    int64_t block = share.begin;
    walk.positions(walk.rank, share.begin, share.end, [&](const int64_t *offsets) {
      if (stopAsked())
        return;
      int64_t down = block % downBlocks, across = block / before % acrossBlocks;
      transposeBlock(to + offsets[0], columnStep, from + offsets[1], fromStep,
                     minimum(kBlock, length - down * kBlock),
                     minimum(kBlock, columns - across * kBlock));
      ++block;
    });
    return;
  }

  int64_t piece = maximum(kPieceBytes / int64_t(sizeof(T)), 1);
  int64_t pieces = ceilDivide(length, piece);
  Share share(walk.total / length * pieces, worker.index, worker.count);
  if (share.begin == share.end)
    return;
  int64_t at = share.begin % pieces; // index of the piece in its row
  int64_t left = share.end - share.begin;
  walk.positions(inner, share.begin / pieces, ceilDivide(share.end, pieces),
                 [&](const int64_t *offsets) {
                   for (; at < pieces && left > 0 && !stopAsked(); ++at, --left) {
                     int64_t first = at * piece, count = minimum(piece, length - first);
                     T *out = to + offsets[0] + first * toStep;
                     const T *in = from + offsets[1] + first * fromStep;
                     if (toStep == 1 && fromStep == 1)
                       std::memcpy(out, in, size_t(count) * sizeof(T));
                     else if (toStep == 1 && fromStep == 0)
                       for (int64_t i = 0; i < count; ++i)
                         out[i] = *in;
                     else
                       for (int64_t i = 0; i < count; ++i)
                         out[i * toStep] = in[i * fromStep];
                   }
                   at = 0;
                 });
}

void copy(const CopyLaunch &launch, Worker &worker) {
  const Tensor &x = launch.x, &y = launch.y;
  withBits(x.dtype, [&](auto bits) { copyAs<decltype(bits)>(x, y, worker); });
}

template <typename T> void fillAs(const Tensor &y, T value, Worker &worker) {
  Tensor one = y;
  one.strides = {};
  one.data = &value;
  copyAs<T>(one, y, worker);
}

void fill(const FillLaunch &launch, Worker &worker) {
  const Tensor &y = launch.y;
  withBits(y.dtype, [&](auto bits) {
    fillAs(y, constantOf<decltype(bits)>(y.dtype, launch.value), worker);
  });
}

/// Fills a dense y with a range, computed in f64.
void arange(const ArangeLaunch &launch, Worker &worker) {
  const Tensor &y = launch.y;
  int64_t repeat = launch.repeat;
  auto bytes = int64_t(dtypeBytes(y.dtype));
  Share share(y.shape[0], worker.index, worker.count);
  for (int64_t i = share.begin; i < share.end && !endsBefore(i); ++i) {
    const int64_t number = i / repeat;
    writeConstant(y.dtype, launch.start + double(number) * launch.step,
                  y.as<char>() + i * y.strides[0] * bytes);
  }
}

} // namespace

void registerCopyKernels(KernelTable &table) {
  table.set<copy>(KernelTable::Types::Any);
  table.set<fill>(KernelTable::Types::Any);
  table.set<arange>(KernelTable::Types::Any);
}

} // namespace lstmc::cpu::LSTMC_CPU_NAMESPACE
