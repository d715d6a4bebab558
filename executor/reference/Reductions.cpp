// The kernels reduce, softmax, layer_norm and their gradients, and norm_squared.
#include <utility>

#include "executor/abi/Kernels.h"
#include "executor/reference/Groups.h"
#include "executor/reference/Lanes.h"
#include "executor/reference/View.h"

namespace lstmc::reference {

namespace {

template <typename T, typename X> T reduceRow(ReduceKind kind, int64_t count, X x) {
  auto add = [](T a, T b) { return evaluate<T>(ScalarOp::Add, a, b); };
  auto multiply = [](T a, T b) { return evaluate<T>(ScalarOp::Mul, a, b); };
  auto addSquare = [](T sum, T x) { return evaluate<T>(ScalarOp::Fma, x, x, sum); };
  using Limits = std::numeric_limits<T>;
  switch (kind) {
  case ReduceKind::Mean:
    return evaluate<T>(ScalarOp::Div, foldInLanes(count, T(0), x, add, add), T(count));
  case ReduceKind::Max:
    return maximumInLanes<T>(count, x);
  case ReduceKind::Min:
    return foldInLanes(count, Limits::has_infinity ? Limits::infinity() : Limits::max(), x,
                       scalar::minimum<T>, scalar::minimum<T>);
  case ReduceKind::Prod:
    return foldInLanes(count, T(1), x, multiply, multiply);
  case ReduceKind::Norm:
    return evaluate<T>(ScalarOp::Sqrt, foldInLanes(count, T(0), x, addSquare, add));
  case ReduceKind::ArgMax:
    return T(firstMaximum(count, x));
  case ReduceKind::Sum:
    break;
  }
  return foldInLanes(count, T(0), x, add, add);
}

/// Offset of element e (row-major) of the axes from `kept` to the last.
int64_t reducedOffset(const Tensor &x, int kept, int64_t e) {
  int64_t offset = 0;
  for (int axis = x.rank - 1; axis >= kept; --axis) {
    offset += e % x.shape[axis] * x.strides[axis];
    e /= x.shape[axis];
  }
  return offset;
}

/// Number of elements of row r that are used.
int64_t countOf(const Tensor &length, int64_t r, int64_t columns) {
  if (!length)
    return columns;
  int64_t count = indexAt(length, r);
  return count < 0 ? 0 : std::min(count, columns);
}

template <typename Real> void softmax(const SoftmaxLaunch &launch) {
  const View<Real> x(launch.x), y(launch.y);
  const Tensor &length = launch.length;
  for (int64_t r = 0; r < y.extent(0); ++r) {
    const int64_t columns = y.extent(1), count = countOf(length, r, columns);
    auto value = [&](int64_t c) { return x(r, c); };
    const SoftmaxRow<Real, decltype(value)> row(count, Real(launch.temperature), value);
    for (int64_t c = 0; c < columns; ++c)
      y(r, c) = c >= count ? Real(0) : launch.log ? row.logProbability(c) : row.probability(c);
  }
}

template <typename Real> void softmaxGradient(const SoftmaxGradientLaunch &launch) {
  const View<Real> y(launch.y), dy(launch.dy), dx(launch.dx);
  const Tensor &length = launch.length;
  const Real temperature = Real(launch.temperature);
  const bool log = launch.log;
  for (int64_t r = 0; r < dx.extent(0); ++r) {
    const int64_t count = countOf(length, r, dx.extent(1));
    const Real sum = sumInLanes<Real>(count, [&](int64_t c, Real lane) {
      return log ? lane + dy(r, c) : std::fma(dy(r, c), y(r, c), lane);
    });
    for (int64_t c = 0; c < dx.extent(1); ++c)
      dx(r, c) = c >= count ? Real(0)
                 : log      ? (dy(r, c) - scalar::exponential(y(r, c)) * sum) / temperature
                            : y(r, c) * (dy(r, c) - sum) / temperature;
  }
}

template <typename Real> void layerNorm(const LayerNormLaunch &launch) {
  const View<Real> x(launch.x), gamma(launch.gamma), beta(launch.beta), y(launch.y),
      meanOut(launch.mean), rstdOut(launch.rstd);
  const int64_t columns = x.extent(1);
  for (int64_t r = 0; r < x.extent(0); ++r) {
    const Real mean =
        sumInLanes<Real>(columns, [&](int64_t c, Real lane) { return lane + x(r, c); }) /
        Real(columns);
    const Real variance = sumInLanes<Real>(columns,
                                           [&](int64_t c, Real lane) {
                                             const Real d = x(r, c) - mean;
                                             return std::fma(d, d, lane);
                                           }) /
                          Real(columns);
    const Real rstd = 1 / std::sqrt(variance + Real(launch.epsilon));
    for (int64_t c = 0; c < columns; ++c)
      y(r, c) = (x(r, c) - mean) * rstd * gamma(c) + beta(c);
    meanOut(r) = mean;
    rstdOut(r) = rstd;
  }
}

/// With n = (x - mean) * rstd and g = dy * gamma: dx = rstd * ((g - mean of g) - n * (mean of g *
/// n)).
template <typename Real> void layerNormGradient(const LayerNormGradientLaunch &launch) {
  const View<Real> x(launch.x), gamma(launch.gamma), mean(launch.mean), rstd(launch.rstd),
      dy(launch.dy), dx(launch.dx), dgammaRows(launch.dgammaRows);
  const int64_t columns = x.extent(1);
  for (int64_t r = 0; r < x.extent(0); ++r) {
    auto normal = [&](int64_t c) { return (x(r, c) - mean(r)) * rstd(r); };
    auto g = [&](int64_t c) { return dy(r, c) * gamma(c); };
    const Real meanG =
        sumInLanes<Real>(columns, [&](int64_t c, Real lane) { return lane + g(c); }) /
        Real(columns);
    const Real meanGN =
        sumInLanes<Real>(columns,
                         [&](int64_t c, Real lane) { return std::fma(g(c), normal(c), lane); }) /
        Real(columns);
    for (int64_t c = 0; c < columns; ++c) {
      const Real n = normal(c), rows = dy(r, c) * n;
      dx(r, c) = rstd(r) * ((g(c) - meanG) - n * meanGN);
      dgammaRows(r, c) = rows;
    }
  }
}

} // namespace

void runReduce(const ReduceLaunch &launch) {
  const Tensor &x = launch.x, &y = launch.y;
  const int kept = int(launch.kept);
  int64_t count = 1;
  for (int axis = kept; axis < x.rank; ++axis)
    count *= x.shape[axis];
  withWidenedType(x.dtype == DType::Bool ? DType::I32 : x.dtype, [&](auto type) {
    using T = decltype(type);
    forEachIndex(x, kept, [&](const auto &index) {
      int64_t row = 0, to = 0;
      for (int axis = 0; axis < kept; ++axis) {
        row += index[axis] * x.strides[axis];
        to += index[axis] * y.strides[axis];
      }
      auto element = [&](int64_t e) {
        return readElement<T>(x.data, x.dtype, row + reducedOffset(x, kept, e));
      };
      if (launch.kind == ReduceKind::ArgMax)
        writeElement(y.data, y.dtype, to, firstMaximum(count, element));
      else
        writeElement(y.data, y.dtype, to, reduceRow<T>(launch.kind, count, element));
    });
  });
}

void runSoftmax(const SoftmaxLaunch &launch) {
  withFloat(launch.x, [&](auto real) { softmax<decltype(real)>(launch); });
}

void runSoftmaxGradient(const SoftmaxGradientLaunch &launch) {
  withFloat(launch.y, [&](auto real) { softmaxGradient<decltype(real)>(launch); });
}

void runLayerNorm(const LayerNormLaunch &launch) {
  withFloat(launch.x, [&](auto real) { layerNorm<decltype(real)>(launch); });
}

void runLayerNormGradient(const LayerNormGradientLaunch &launch) {
  withFloat(launch.x, [&](auto real) { layerNormGradient<decltype(real)>(launch); });
}

/// Adds the tiles of a tensor in ascending order from +0 (for the first tensor from `begin`),
/// tensor after tensor.
void runNormSquared(const NormSquaredLaunch &launch) {
  double total = 0, begun = launch.begin ? launch.begin.as<const double>()[0] : 0;
  for (const Tensor &x : launch.repeated) {
    double sum = std::exchange(begun, 0);
    const int64_t elements = x.elements();
    for (int64_t begin = 0; begin < elements; begin += kNormTile)
      sum = sum +
            sumInLanes<double>(std::min(kNormTile, elements - begin), [&](int64_t e, double lane) {
              double value = readElement<double>(x.data, x.dtype, reducedOffset(x, 0, begin + e));
              return std::fma(value, value, lane);
            });
    total = total + sum;
  }
  launch.y.as<double>()[0] = total;
}

} // namespace lstmc::reference
