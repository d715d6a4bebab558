#include "backends/cuda/kernels/Reductions.h"

#include "backends/cuda/kernels/Rows.h"
#include "backends/cuda/kernels/Scalars.h"

namespace lstmc::gpu {

namespace {

/// Offset of element e, row-major, of the axes [first, last).
LSTMC_DEVICE int64_t offsetIn(const Operand &x, int64_t first, int64_t last, int64_t e) {
  int64_t offset = 0;
  for (int64_t axis = last - 1; axis >= first; --axis) {
    offset += e % x.shape[axis] * x.strides[axis];
    e /= x.shape[axis];
  }
  return offset;
}

template <typename V, typename X> LSTMC_DEVICE V reduceFloats(ReduceKind kind, int64_t count, X x) {
  auto join = [](V a, V b) { return a + b; };
  auto add = [&](V lane, int64_t e) { return lane + x(e); };
  switch (kind) {
  case ReduceKind::Mean:
    return foldInLanes(count, V{0}, add, join) / V{typename V::Stored(count)};
  case ReduceKind::Max:
    return foldInLanes(
        count, V{typename V::Stored(-INFINITY)},
        [&](V lane, int64_t e) { return larger(lane, x(e)); },
        [](V a, V b) { return larger(a, b); });
  case ReduceKind::Min:
    return foldInLanes(
        count, V{typename V::Stored(INFINITY)},
        [&](V lane, int64_t e) { return smaller(lane, x(e)); },
        [](V a, V b) { return smaller(a, b); });
  case ReduceKind::Prod:
    return foldInLanes(
        count, V{1}, [&](V lane, int64_t e) { return lane * x(e); },
        [](V a, V b) { return a * b; });
  case ReduceKind::Norm:
    return root(foldInLanes(
        count, V{0}, [&](V lane, int64_t e) { return multiplyAdd(x(e), x(e), lane); }, join));
  default:
    return foldInLanes(count, V{0}, add, join);
  }
}

/// As above for i32 and i64.
template <typename T, typename X>
LSTMC_DEVICE T reduceIntegers(ReduceKind kind, int64_t count, X x) {
  ScalarOp step = ScalarOp::Add, join = ScalarOp::Add;
  T start = 0;
  if (kind == ReduceKind::Max || kind == ReduceKind::Min) {
    step = join = kind == ReduceKind::Max ? ScalarOp::Max : ScalarOp::Min;
    start =
        kind == ReduceKind::Max ? std::numeric_limits<T>::lowest() : std::numeric_limits<T>::max();
  } else if (kind == ReduceKind::Prod) {
    step = join = ScalarOp::Mul;
    start = 1;
  } else if (kind == ReduceKind::Norm) {
    step = ScalarOp::Fma;
  }
  const T sum = foldInLanes(
      count, start,
      [&](T lane, int64_t e) {
        return step == ScalarOp::Fma ? integerOperation(step, x(e), x(e), lane)
                                     : integerOperation(step, lane, x(e), T(0));
      },
      [&](T a, T b) { return integerOperation(join, a, b, T(0)); });
  return kind == ReduceKind::Mean   ? integerOperation(ScalarOp::Div, sum, T(count), T(0))
         : kind == ReduceKind::Norm ? integerOperation(ScalarOp::Sqrt, sum, T(0), T(0))
                                    : sum;
}

template <typename V> LSTMC_DEVICE void softmax(const SoftmaxArguments &a) {
  const int64_t r = blockIndex(), columns = a.y.shape[1], count = countOf(a.length, r, columns);
  auto x = [&](int64_t c) { return loadAs<V>(a.x, at(a.x, r, c)); };
  const SoftmaxRow row(count, V{typename V::Stored(a.temperature)}, x);
  syncWarp(); // y may be x
  for (int64_t c = threadIndex(); c < columns; c += blockThreads())
    storeAs(a.y, at(a.y, r, c),
            c >= count ? V{0}
            : a.log    ? row.logProbability(c)
                       : row.probability(c));
}

template <typename V> LSTMC_DEVICE void softmaxGradient(const SoftmaxGradientArguments &a) {
  const int64_t r = blockIndex(), columns = a.dx.shape[1], count = countOf(a.length, r, columns);
  const V temperature = {typename V::Stored(a.temperature)};
  auto y = [&](int64_t c) { return loadAs<V>(a.y, at(a.y, r, c)); };
  auto dy = [&](int64_t c) { return loadAs<V>(a.dy, at(a.dy, r, c)); };
  const V sum = sumInLanes<V>(count, [&](V lane, int64_t c) {
    return a.log ? lane + dy(c) : multiplyAdd(dy(c), y(c), lane);
  });
  for (int64_t c = threadIndex(); c < columns; c += blockThreads())
    storeAs(a.dx, at(a.dx, r, c),
            c >= count ? V{0}
            : a.log    ? (dy(c) - exponential(y(c)) * sum) / temperature
                       : y(c) * (dy(c) - sum) / temperature);
}

template <typename V> LSTMC_DEVICE void layerNorm(const LayerNormArguments &a) {
  const int64_t r = blockIndex(), columns = a.x.shape[1];
  const V n = {typename V::Stored(columns)};
  auto x = [&](int64_t c) { return loadAs<V>(a.x, at(a.x, r, c)); };
  const V mean = sumInLanes<V>(columns, [&](V lane, int64_t c) { return lane + x(c); }) / n;
  const V variance = sumInLanes<V>(columns,
                                   [&](V lane, int64_t c) {
                                     const V d = x(c) - mean;
                                     return multiplyAdd(d, d, lane);
                                   }) /
                     n;
  const V rstd = V{1} / root(variance + V{typename V::Stored(a.epsilon)});
  for (int64_t c = threadIndex(); c < columns; c += blockThreads())
    storeAs(a.y, at(a.y, r, c),
            (x(c) - mean) * rstd * loadAs<V>(a.gamma, at(a.gamma, c)) +
                loadAs<V>(a.beta, at(a.beta, c)));
  if (threadIndex() == 0) {
    storeAs(a.mean, at(a.mean, r), mean);
    storeAs(a.rstd, at(a.rstd, r), rstd);
  }
}

/// With n = (x - mean) * rstd and g = dy * gamma: dx = rstd * ((g - mean of g) - n * (mean of g *
/// n)).
template <typename V> LSTMC_DEVICE void layerNormGradient(const LayerNormGradientArguments &a) {
  const int64_t r = blockIndex(), columns = a.x.shape[1];
  const V count = {typename V::Stored(columns)};
  const V mean = loadAs<V>(a.mean, at(a.mean, r)), rstd = loadAs<V>(a.rstd, at(a.rstd, r));
  auto dy = [&](int64_t c) { return loadAs<V>(a.dy, at(a.dy, r, c)); };
  auto normal = [&](int64_t c) { return (loadAs<V>(a.x, at(a.x, r, c)) - mean) * rstd; };
  auto g = [&](int64_t c) { return dy(c) * loadAs<V>(a.gamma, at(a.gamma, c)); };
  const V meanG = sumInLanes<V>(columns, [&](V lane, int64_t c) { return lane + g(c); }) / count;
  const V meanGN =
      sumInLanes<V>(columns,
                    [&](V lane, int64_t c) { return multiplyAdd(g(c), normal(c), lane); }) /
      count;
  for (int64_t c = threadIndex(); c < columns; c += blockThreads()) {
    const V n = normal(c);
    storeAs(a.dgammaRows, at(a.dgammaRows, r, c), dy(c) * n);
    storeAs(a.dx, at(a.dx, r, c), rstd * ((g(c) - meanG) - n * meanGN));
  }
}

template <typename V> LSTMC_DEVICE void reduceRow(const ReduceArguments &a, int64_t r) {
  const int64_t from = offsetIn(a.x, 0, a.kept, r), to = offsetIn(a.y, 0, a.kept, r);
  auto element = [&](int64_t e) {
    const int64_t offset = from + offsetIn(a.x, a.kept, a.x.rank, e);
    if constexpr (std::is_integral_v<V>)
      return elementAs<V>(a.x, offset);
    else
      return V{elementAs<typename V::Stored>(a.x, offset)};
  };
  if constexpr (std::is_integral_v<V>) {
    const V result = reduceIntegers<V>(a.kind, a.count, element);
    if (threadIndex() == 0)
      storeElement(a.y, to, result);
  } else {
    const V result = reduceFloats<V>(a.kind, a.count, element);
    if (threadIndex() == 0)
      storeElement(a.y, to, result.v);
  }
}

} // namespace

LSTMC_GPU_KERNEL(lstmc_reduce, ReduceArguments, a) {
  for (int64_t r = blockIndex(); r < a.rows; r += gridBlocks()) {
    if (a.kind == ReduceKind::ArgMax) {
      const int64_t from = offsetIn(a.x, 0, a.kept, r);
      const bool wide = DType(a.x.dtype) == DType::I64;
      auto offset = [&](int64_t e) { return from + offsetIn(a.x, a.kept, a.x.rank, e); };
      const int64_t index =
          wide ? firstMaximumOf<int64_t>(
                     a.count, [&](int64_t e) { return elementAs<int64_t>(a.x, offset(e)); })
               : firstMaximumOf<double>(a.count, [&](int64_t e) {
                   return flushed(Double{elementAs<double>(a.x, offset(e))}).v;
                 });
      if (threadIndex() == 0)
        storeElement(a.y, offsetIn(a.y, 0, a.kept, r), index);
      continue;
    }
    switch (DType(a.x.dtype)) {
    case DType::F32:
    case DType::F16:
    case DType::BF16:
      reduceRow<Float>(a, r);
      break;
    case DType::F64:
      reduceRow<Double>(a, r);
      break;
    case DType::I64:
      reduceRow<int64_t>(a, r);
      break;
    default:
      reduceRow<int32_t>(a, r);
    }
  }
}

LSTMC_GPU_KERNEL(lstmc_softmax_f32, SoftmaxArguments, a) { softmax<Float>(a); }
LSTMC_GPU_KERNEL(lstmc_softmax_f64, SoftmaxArguments, a) { softmax<Double>(a); }
LSTMC_GPU_KERNEL(lstmc_softmax_gradient_f32, SoftmaxGradientArguments, a) {
  softmaxGradient<Float>(a);
}
LSTMC_GPU_KERNEL(lstmc_softmax_gradient_f64, SoftmaxGradientArguments, a) {
  softmaxGradient<Double>(a);
}

LSTMC_GPU_KERNEL(lstmc_layer_norm_f32, LayerNormArguments, a) { layerNorm<Float>(a); }
LSTMC_GPU_KERNEL(lstmc_layer_norm_f64, LayerNormArguments, a) { layerNorm<Double>(a); }
LSTMC_GPU_KERNEL(lstmc_layer_norm_gradient_f32, LayerNormGradientArguments, a) {
  layerNormGradient<Float>(a);
}
LSTMC_GPU_KERNEL(lstmc_layer_norm_gradient_f64, LayerNormGradientArguments, a) {
  layerNormGradient<Double>(a);
}

/// The warps sum kNormWarps tiles at a time, and the first thread adds them in order.
LSTMC_GPU_KERNEL(lstmc_norm_squared, NormArguments, a) {
  const Shared<double> tiles = shared<double>(0, kNormWarps);
  Double total = {0};
  for (int64_t i = 0; i < a.count; ++i) {
    const NormTensor tensor = a.tensors.row(i);
    const bool continues = i == 0 && a.begin.data;
    Double sum = continues ? loadAs<Double>(a.begin, 0) : Double{0};
    for (int64_t first = 0; first < tensor.elements; first += kNormWarps * kNormTile) {
      const int64_t begin = first + warpIndex() * kNormTile, left = tensor.elements - begin;
      const int64_t count = left < 0 ? 0 : left < kNormTile ? left : kNormTile;
      const Double tile = sumInLanes<Double>(count, [&](Double lane, int64_t e) {
        const Double value = {elementAs<double>(tensor.x, offsetOf(tensor.x, begin + e))};
        return multiplyAdd(value, value, lane);
      });
      if (laneIndex() == 0)
        tiles.store(warpIndex(), tile.v);
      syncThreads();
      for (int warp = 0; threadIndex() == 0 && warp < kNormWarps; ++warp)
        if (first + warp * kNormTile < tensor.elements)
          sum = sum + Double{tiles.load(warp)};
      syncThreads();
    }
    total = total + sum;
  }
  if (threadIndex() == 0)
    storeAs(a.y, 0, total);
}

} // namespace lstmc::gpu
