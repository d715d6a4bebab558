// Ops on windows of images and sequences, and normalisation over their extents.
#include <algorithm>
#include <cmath>

#include "tests/nets/plain/Rules.h"

namespace lstmc::nets::plain {

namespace {

/// Entry `axis` of a tuple that may be empty.
int64_t entry(llvm::ArrayRef<int64_t> tuple, size_t axis, int64_t otherwise) {
  return tuple.empty() ? otherwise : tuple[axis];
}

Array pad(sym::PadOp op, const Values &at) {
  const Array &x = at(op.getData());
  return made(op.getOutput(), [&](const Index &i) -> Number {
    Index from = i;
    for (size_t axis = 0; axis < i.size(); ++axis) {
      const int64_t last = x.shape[axis] - 1;
      int64_t place = i[axis] - op.getPadWidth()[2 * axis];
      if (op.getMode() == "constant" && (place < 0 || place > last))
        return op.getConstantValue().convertToDouble();
      if (op.getMode() == "reflect")
        place = place < 0 ? -place : place > last ? 2 * last - place : place;
      from[axis] = std::clamp<int64_t>(place, 0, last);
    }
    return x.at(from);
  });
}

Array convolution(sym::ConvolutionOp op, const Values &at) {
  const Array &x = at(op.getData()), &w = at(op.getWeight()), *b = at.maybe(op.getBias());
  const int64_t channels = w.shape[1], perGroup = w.shape[0] / int64_t(op.getNumGroup());
  const Index kernel(w.shape.begin() + 1, w.shape.end()); // the channels of a group first
  return made(op.getOutput(), [&](const Index &i) {
    Number sum = b ? b->x[size_t(i[1])] : 0;
    forEach(kernel, [&](const Index &k) {
      Index from = {i[0], i[1] / perGroup * channels + k[0]};
      for (size_t axis = 0; axis + 1 < k.size(); ++axis) {
        const int64_t place = i[axis + 2] * entry(op.getStride(), axis, 1) +
                              k[axis + 1] * entry(op.getDilate(), axis, 1) -
                              entry(op.getPad(), axis, 0);
        if (place < 0 || place >= x.shape[axis + 2])
          return;
        from.push_back(place);
      }
      Index weight = {i[1]};
      weight.append(k.begin(), k.end());
      sum += w.at(weight) * x.at(from);
    });
    return sum;
  });
}

Array pooling(sym::PoolingOp op, const Values &at) {
  const Array &x = at(op.getData());
  const bool all = op.getGlobalPool();
  return made(op.getOutput(), [&](const Index &i) -> Number {
    Index begin, extents;
    Number counted = 1;
    for (size_t axis = 0; axis + 2 < x.shape.size(); ++axis) {
      const int64_t extent = x.shape[axis + 2], pad = all ? 0 : entry(op.getPad(), axis, 0);
      const int64_t first = all ? 0 : i[axis + 2] * entry(op.getStride(), axis, 1) - pad;
      const int64_t end = all ? extent : std::min(first + op.getKernel()[axis], extent + pad);
      begin.push_back(std::max<int64_t>(first, 0));
      extents.push_back(std::min(end, extent) - begin.back());
      counted *= Number(op.getCountIncludePad() ? end - first : extents.back());
    }
    Number sum = 0, largest = -INFINITY;
    forEach(extents, [&](const Index &k) {
      Index from = {i[0], i[1]};
      for (size_t axis = 0; axis < k.size(); ++axis)
        from.push_back(begin[axis] + k[axis]);
      sum += x.at(from);
      largest = std::max(largest, x.at(from));
    });
    return op.getPoolType() == "max" ? largest : op.getPoolType() == "sum" ? sum : sum / counted;
  });
}

Array instanceNorm(sym::InstanceNormOp op, const Values &at) {
  const Array &x = at(op.getData()), &gamma = at(op.getGamma()), &beta = at(op.getBeta());
  Array y = zerosFor(op.getOutput());
  const int64_t size = x.count() / (x.shape[0] * x.shape[1]);
  for (int64_t row = 0; row < x.shape[0] * x.shape[1]; ++row) {
    const Number *values = x.x.data() + row * size;
    Number mean = 0, variance = 0;
    for (int64_t i = 0; i < size; ++i)
      mean += values[i] / Number(size);
    for (int64_t i = 0; i < size; ++i)
      variance += (values[i] - mean) * (values[i] - mean) / Number(size);
    const Number deviation = std::sqrt(variance + op.getEps().convertToDouble());
    for (int64_t i = 0; i < size; ++i)
      y.x[size_t(row * size + i)] =
          (values[i] - mean) / deviation * gamma.x[size_t(row % x.shape[1])] +
          beta.x[size_t(row % x.shape[1])];
  }
  return y;
}

Array argmaxChannel(sym::ArgmaxChannelOp op, const Values &at) {
  const Array &x = at(op.getData());
  Array y = zerosFor(op.getOutput());
  size_t row = 0;
  forEach(without(x.shape, 1), [&](const Index &i) {
    int64_t best = 0;
    for (int64_t c = 1; c < x.shape[1]; ++c) {
      const Number now = x.at(with(i, 1, c)), before = x.at(with(i, 1, best));
      if (now > before || (std::isnan(now) && !std::isnan(before)))
        best = c;
    }
    y.x[row++] = Number(best);
  });
  return y;
}

} // namespace

void addWindows(Rules &rules) {
  onExact<sym::PadOp>(rules, pad);
  on<sym::ConvolutionOp>(rules, convolution);
  on<sym::PoolingOp>(rules, pooling);
  on<sym::InstanceNormOp>(rules, instanceNorm);
  onExact<sym::ArgmaxChannelOp>(rules, argmaxChannel);
  onExact<sym::AmpCastOp>(rules,
                          [](sym::AmpCastOp op, const Values &at) { return at(op.getData()); });
  on<sym::DivSqrtDimOp>(rules, [](sym::DivSqrtDimOp op, const Values &at) {
    Array y = at(op.getData());
    for (Number &number : y.x)
      number /= std::sqrt(Number(y.shape.back()));
    return y;
  });
  onExact<sym::BatchTakeOp>(rules, [](sym::BatchTakeOp op, const Values &at) {
    const Array &a = at(op.getA()), &indices = at(op.getIndices());
    return made(op.getOutput(), [&](const Index &i) {
      return a.at({i[0], inside(indices.x[size_t(i[0])], a.shape[1])});
    });
  });
}

} // namespace lstmc::nets::plain
