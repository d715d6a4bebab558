// The kernel reduce: along rows if the reduced elements are contiguous, over many outputs at a time
// if the outputs are.
#include "backends/cpu/runtime/KernelTable.h"
#include "backends/cpu/runtime/Lanes.h"
#include "backends/cpu/runtime/StridedWalk.h"
#include "executor/abi/Kernels.h"
#include "executor/reference/Reference.h"

namespace lstmc::cpu::LSTMC_CPU_NAMESPACE {

namespace {

/// The start value of a kind, its step for an element, and its join of two lanes.
struct Add {
  static float start() { return 0; }
  static LSTMC_INLINE Vector step(Vector lane, Vector x) { return lane + x; }
  static LSTMC_INLINE Vector join(Vector a, Vector b) { return a + b; }
};
struct AddSquare {
  static float start() { return 0; }
  static LSTMC_INLINE Vector step(Vector lane, Vector x) { return fma(x, x, lane); }
  static LSTMC_INLINE Vector join(Vector a, Vector b) { return a + b; }
};
struct Multiply {
  static float start() { return 1; }
  static LSTMC_INLINE Vector step(Vector lane, Vector x) { return lane * x; }
  static LSTMC_INLINE Vector join(Vector a, Vector b) { return a * b; }
};
struct Largest {
  static float start() { return -__builtin_inff(); }
  static LSTMC_INLINE Vector step(Vector lane, Vector x) { return maximum(lane, x); }
  static LSTMC_INLINE Vector join(Vector a, Vector b) { return maximum(a, b); }
};
struct Least {
  static float start() { return __builtin_inff(); }
  static LSTMC_INLINE Vector step(Vector lane, Vector x) { return minimum(lane, x); }
  static LSTMC_INLINE Vector join(Vector a, Vector b) { return minimum(a, b); }
};

/// The last operation of mean and norm.
Vector finish(ReduceKind kind, Vector v, int64_t count) {
  if (kind == ReduceKind::Mean)
    return v / Vector::broadcast(float(count));
  return kind == ReduceKind::Norm ? sqrt(v) : v;
}

/// The kept axes (views y, x) and the reduced axes (view x), as separate walks.
struct Parts {
  Tensor keptX, keptY, reducedX;
  Parts(const Tensor &x, const Tensor &y, int kept) : keptX(x), keptY(y), reducedX(x) {
    keptX.rank = keptY.rank = kept;
    reducedX.rank = x.rank - kept;
    for (int d = kept; d < x.rank; ++d) {
      reducedX.shape[size_t(d - kept)] = x.shape[size_t(d)];
      reducedX.strides[size_t(d - kept)] = x.strides[size_t(d)];
    }
  }
};

struct Reduction {
  ReduceKind kind;
  const float *x;
  float *y;
  StridedWalk<2> kept; ///< y, x
  StridedWalk<1> reduced;
};

/// Computes one output after the other.
template <typename Op> void byRows(const Reduction &r, Worker &worker) {
  Share share(r.kept.total, worker.index, worker.count);
  bool row = r.reduced.rank == 0 || (r.reduced.rank == 1 && r.reduced.strides[0][0] == 1);
  int64_t count = r.reduced.total;
  r.kept.positions(r.kept.rank, share.begin, share.end, [&](const int64_t *offsets) {
    const float *x = r.x + offsets[1];
    float result;
    if (row) {
      Row from{const_cast<float *>(x), 1};
      result = foldInLanes(
          count, Op::start(),
          [&](int64_t e, Vector lane) { return Op::step(lane, from.load(e, count)); }, Op::join);
    } else {
      alignas(64) float lanes[kPanel];
      for (float &lane : lanes)
        lane = Op::start();
      int64_t e = 0;
      r.reduced.positions(r.reduced.rank, 0, count, [&](const int64_t *at) {
        float &lane = lanes[e++ % kPanel];
        lane = firstLane(Op::step(Vector::broadcast(lane), Vector::broadcast(x[at[0]])));
      });
      Vector all[kPanelVectors];
      for (int j = 0; j < kPanelVectors; ++j)
        all[j] = Vector::load(lanes + j * kWidth);
      result = treeOfLanes(all, Op::join);
    }
    r.y[offsets[0]] = firstLane(finish(r.kind, Vector::broadcast(result), count));
  });
}

constexpr int64_t kColumns = 64; ///< outputs whose lanes fit in L1 together

/// Computes many outputs at a time: the innermost kept dimension is contiguous in x. Out of line,
/// so that the lanes of all kinds are not in one frame.
template <typename Op>
__attribute__((noinline)) void byColumns(const Reduction &r, Worker &worker) {
  int inner = r.kept.rank - 1;
  int64_t length = r.kept.shape[inner], yStep = r.kept.strides[0][inner];
  int64_t blocks = ceilDivide(length, kColumns);
  int64_t count = r.reduced.total;
  Share share(r.kept.total / length * blocks, worker.index, worker.count);
  for (int64_t i = share.begin; i < share.end && !stopAsked(); ++i) {
    int64_t first = i % blocks * kColumns, columns = minimum(kColumns, length - first);
    alignas(64) float lanes[kPanel][kColumns];
    for (auto &lane : lanes)
      for (float &column : lane)
        column = Op::start();
    r.kept.positions(inner, i / blocks, i / blocks + 1, [&](const int64_t *offsets) {
      const float *x = r.x + offsets[1] + first;
      int64_t e = 0;
      r.reduced.positions(r.reduced.rank, 0, count, [&](const int64_t *at) {
        float *lane = lanes[e++ % kPanel];
        Row from{const_cast<float *>(x) + at[0], 1};
        for (int64_t c = 0; c < columns; c += kWidth)
          Op::step(Vector::load(lane + c), from.load(c, columns)).store(lane + c);
      });
      Row to{r.y + offsets[0] + first * yStep, yStep};
      for (int64_t c = 0; c < columns; c += kWidth) {
        Vector level[kPanel];
        for (int l = 0; l < kPanel; ++l)
          level[l] = Vector::load(lanes[l] + c);
        for (int n = int(kPanel) / 2; n > 0; n /= 2)
          for (int l = 0; l < n; ++l)
            level[l] = Op::join(level[2 * l], level[2 * l + 1]);
        to.store(c, columns, finish(r.kind, level[0], count));
      }
    });
  }
}

template <typename Op> void reduceAs(const Reduction &r, Worker &worker) {
  int inner = r.kept.rank - 1;
  bool row = r.reduced.rank == 0 || r.reduced.strides[0][r.reduced.rank - 1] == 1;
  if (!row && inner >= 0 && r.kept.strides[1][inner] == 1)
    byColumns<Op>(r, worker);
  else
    byRows<Op>(r, worker);
}

/// Index of the first of the largest elements; NaN counts as larger than all.
void argMax(const Reduction &r, Worker &worker) {
  Share share(r.kept.total, worker.index, worker.count);
  bool row = r.reduced.rank == 1 && r.reduced.strides[0][0] == 1;
  r.kept.positions(r.kept.rank, share.begin, share.end, [&](const int64_t *offsets) {
    const float *x = r.x + offsets[1];
    if (row) {
      Row from{const_cast<float *>(x), 1};
      float most = maximumInLanes(from, r.reduced.total);
      r.y[offsets[0]] = float(firstOf(from, r.reduced.total, most));
      return;
    }
    float largest = 0;
    int64_t e = 0, best = 0;
    r.reduced.positions(r.reduced.rank, 0, r.reduced.total, [&](const int64_t *at) {
      float v = x[at[0]];
      if (e == 0 || (largest == largest && (v > largest || v != v))) {
        largest = v;
        best = e;
      }
      ++e;
    });
    r.y[offsets[0]] = float(best);
  });
}

void reduce(const ReduceLaunch &launch, Worker &worker) {
  const Tensor &x = launch.x, &y = launch.y;
  if (x.dtype != DType::F32 || y.dtype != DType::F32)
    return reference::kernel(KernelId::Reduce)(launch.wire, worker);
  Parts parts(x, y, int(launch.kept));
  const Tensor *kept[2] = {&parts.keptY, &parts.keptX};
  const Tensor *reduced[1] = {&parts.reducedX};
  Reduction r{launch.kind, x.as<const float>(), y.as<float>(), StridedWalk<2>(kept, true),
              StridedWalk<1>(reduced, false)};
  switch (r.kind) {
  case ReduceKind::Sum:
  case ReduceKind::Mean:
    return reduceAs<Add>(r, worker);
  case ReduceKind::Max:
    return reduceAs<Largest>(r, worker);
  case ReduceKind::Min:
    return reduceAs<Least>(r, worker);
  case ReduceKind::Prod:
    return reduceAs<Multiply>(r, worker);
  case ReduceKind::Norm:
    return reduceAs<AddSquare>(r, worker);
  case ReduceKind::ArgMax:
    return argMax(r, worker);
  }
}

} // namespace

void registerReduceKernels(KernelTable &table) { table.set<reduce>(); }

} // namespace lstmc::cpu::LSTMC_CPU_NAMESPACE
