// The kernels layer_norm, layer_norm_gradient and norm_squared.
#include "backends/cpu/runtime/KernelTable.h"
#include "backends/cpu/runtime/Lanes64.h"
#include "backends/cpu/runtime/SharedSums.h"
#include "backends/cpu/runtime/StridedWalk.h"
#include "backends/cpu/runtime/TileCopy.h"

namespace lstmc::cpu::LSTMC_CPU_NAMESPACE {

namespace {

void layerNorm(const LayerNormLaunch &launch, Worker &worker) {
  Row gamma = vectorOf(launch.gamma), beta = vectorOf(launch.beta);
  Row means = vectorOf(launch.mean), rstds = vectorOf(launch.rstd);
  auto epsilon = float(launch.epsilon);
  int64_t columns = launch.x.shape[1];
  Share share(launch.x.shape[0], worker.index, worker.count);
  for (int64_t r = share.begin; r < share.end && !stopAsked(); ++r) {
    Row x = rowOf(launch.x, r), y = rowOf(launch.y, r);
    float mean =
        sumInLanes(columns, [&](int64_t e, Vector lane) { return lane + x.load(e, columns); }) /
        float(columns);
    Vector m = Vector::broadcast(mean);
    float variance = sumInLanes(columns,
                                [&](int64_t e, Vector lane) {
                                  Vector d = x.load(e, columns) - m;
                                  return fma(d, d, lane);
                                }) /
                     float(columns);
    Vector s = Vector::broadcast(1.0f) / sqrt(Vector::broadcast(variance + epsilon));
    for (int64_t e = 0; e < columns; e += kWidth) {
      Vector n = (x.load(e, columns) - m) * s;
      y.store(e, columns, n * gamma.load(e, columns) + beta.load(e, columns));
    }
    means.data[r * means.step] = mean;
    rstds.data[r * rstds.step] = firstLane(s);
  }
}

/// With n = (x - mean) * rstd and g = dy * gamma: dx = rstd * ((g - mean of g) - n * (mean of g *
/// n)).
void layerNormGradient(const LayerNormGradientLaunch &launch, Worker &worker) {
  Row gamma = vectorOf(launch.gamma), means = vectorOf(launch.mean), rstds = vectorOf(launch.rstd);
  int64_t columns = launch.x.shape[1];
  Share share(launch.x.shape[0], worker.index, worker.count);
  for (int64_t r = share.begin; r < share.end && !stopAsked(); ++r) {
    Row x = rowOf(launch.x, r), dy = rowOf(launch.dy, r), dx = rowOf(launch.dx, r);
    Row rows = rowOf(launch.dgammaRows, r);
    Vector m = Vector::broadcast(means[r]), s = Vector::broadcast(rstds[r]);
    auto normal = [&](int64_t e) { return (x.load(e, columns) - m) * s; };
    auto g = [&](int64_t e) { return dy.load(e, columns) * gamma.load(e, columns); };
    float sumG = sumInLanes(columns, [&](int64_t e, Vector lane) { return lane + g(e); });
    float sumGN =
        sumInLanes(columns, [&](int64_t e, Vector lane) { return fma(g(e), normal(e), lane); });
    Vector meanG = Vector::broadcast(sumG / float(columns));
    Vector meanGN = Vector::broadcast(sumGN / float(columns));
    for (int64_t e = 0; e < columns; e += kWidth) {
      Vector n = normal(e), d = dy.load(e, columns);
      Vector row = d * n;
      dx.store(e, columns, s * ((g(e) - meanG) - n * meanGN));
      rows.store(e, columns, row);
    }
  }
}

/// Sum of the squares of elements begin to end - 1, for any type and strides.
double sumOfSquares(const Tensor &x, const StridedWalk<1> &walk, int64_t begin, int64_t end) {
  if (x.dtype == DType::F32 && x.dense())
    return dot(x.as<const float>() + begin, x.as<const float>() + begin, end - begin);
  ReadNumber read = readNumber(x.dtype);
  double lanes[kPanel] = {};
  int64_t e = 0;
  walk.positions(walk.rank, begin, end, [&](const int64_t *offsets) {
    double v = read(x.data, offsets[0]);
    double &lane = lanes[e++ % kPanel];
    lane = __builtin_fma(v, v, lane);
  });
  return treeOfLanes(lanes);
}

/// The workers share the tiles of a tensor; worker 0 adds their sums in order.
void normSquared(const NormSquaredLaunch &launch, Worker &worker) {
  const Tensor &y = launch.y;
  const Tensor &begin = launch.begin;
  double begun = begin ? *begin.as<const double>() : 0;
  SharedSums sums(y.data, worker);
  double total = 0;
  for (const Tensor &x : launch.repeated) {
    const Tensor *views[1] = {&x};
    StridedWalk<1> walk(views, false);
    int64_t tiles = ceilDivide(walk.total, kNormTile);
    double sum = begun;
    begun = 0;
    for (int64_t first = 0; first < tiles; first += SharedSums::kPlaces) {
      int64_t n = minimum(SharedSums::kPlaces, tiles - first);
      sums.make(n, [&](int64_t i, double *places) {
        int64_t begin = (first + i) * kNormTile;
        const int64_t end = minimum(begin + kNormTile, walk.total);
        places[i] = stopAsked() ? 0 : sumOfSquares(x, walk, begin, end);
      });
      for (int64_t i = 0; worker.index == 0 && i < n; ++i)
        sum = sum + sums[i];
    }
    total = total + sum;
  }
  sums.finish();
  if (worker.index == 0)
    *y.as<double>() = total;
}

} // namespace

void registerNormKernels(KernelTable &table) {
  table.set<layerNorm>();
  table.set<layerNormGradient>();
  table.set<normSquared>(KernelTable::Types::Any);
}

} // namespace lstmc::cpu::LSTMC_CPU_NAMESPACE
