// The ops of ir/sym/ImportedOps.td.
#include <cmath>

#include "ir/sym/ImportedOps.h"
#include "tests/nets/plain/Rules.h"

namespace lstmc::nets::plain {

namespace {

int64_t entry(llvm::ArrayRef<int64_t> tuple, size_t axis, int64_t otherwise) {
  return tuple.empty() ? otherwise : tuple[axis];
}

/// Each element times the kernel, added where the kernel's elements fall.
Array deconvolution(sym::DeconvolutionOp op, const Values &at) {
  const Array &x = at(op.getData()), &w = at(op.getWeight()), *b = at.maybe(op.getBias());
  Array y = zerosFor(op.getOutput());
  const bool hasTarget =
      llvm::any_of(op.getTargetShape(), [](int64_t extent) { return extent != 0; });
  const auto groups = int64_t(op.getNumGroup());
  const Index kernel(w.shape.begin() + 1, w.shape.end()); // the filters of a group first
  forEach(x.shape, [&](const Index &i) {
    forEach(kernel, [&](const Index &k) {
      Index to = {i[0], i[1] / (x.shape[1] / groups) * kernel[0] + k[0]};
      for (size_t axis = 0; axis + 1 < k.size(); ++axis) {
        const int64_t stride = entry(op.getStride(), axis, 1);
        const int64_t dilate = entry(op.getDilate(), axis, 1);
        int64_t pad = entry(op.getPad(), axis, 0);
        if (hasTarget)
          pad = (stride * (x.shape[axis + 2] - 1) + dilate * (kernel[axis + 1] - 1) + 1 -
                 op.getTargetShape()[axis] + 1) /
                2;
        to.push_back(i[axis + 2] * stride - pad + k[axis + 1] * dilate);
        if (to.back() < 0 || to.back() >= y.shape[axis + 2])
          return;
      }
      Index weight = {i[1]};
      weight.append(k.begin(), k.end());
      y.at(to) += w.at(weight) * x.at(i);
    });
  });
  if (b)
    forEach(y.shape, [&](const Index &i) { y.at(i) += b->x[size_t(i[1])]; });
  return y;
}

Array upSampling(sym::UpSamplingOp op, const Values &at) {
  const bool sums = op.getMultiInputMode() == "sum";
  Array y = zerosFor(op.getOutput());
  forEach(y.shape, [&](const Index &i) {
    int64_t channel = i[1];
    for (mlir::Value arg : op.getArgs()) {
      const Array &x = at(arg);
      if (sums || (channel >= 0 && channel < x.shape[1]))
        y.at(i) += x.at({i[0], sums ? i[1] : channel, i[2] / (y.shape[2] / x.shape[2]),
                         i[3] / (y.shape[3] / x.shape[3])});
      channel -= x.shape[1];
    }
  });
  return y;
}

Array lrn(sym::LRNOp op, const Values &at) {
  const Array &x = at(op.getData());
  const auto size = int64_t(op.getNsize());
  return made(op.getOutput(), [&](const Index &i) {
    Number sum = 0;
    for (int64_t c = i[1] - size / 2; c <= i[1] + size / 2; ++c)
      if (c >= 0 && c < x.shape[1])
        sum += x.at(replaced(i, 1, c)) * x.at(replaced(i, 1, c));
    return x.at(i) * std::pow(op.getKnorm().convertToDouble() +
                                  op.getAlpha().convertToDouble() / Number(size) * sum,
                              Number(-op.getBeta().convertToDouble()));
  });
}

Results groupNorm(sym::GroupNormOp op, const Values &at) {
  const Array &x = at(op.getData()), &gamma = at(op.getGamma()), &beta = at(op.getBeta());
  Array y = zerosFor(op.getOutput()), means = zerosFor(op.getMean()), all = zerosFor(op.getStd());
  const auto groups = int64_t(op.getNumGroups());
  const int64_t size = x.count() / (x.shape[0] * groups);
  for (int64_t row = 0; row < x.shape[0] * groups; ++row) {
    const Number *values = x.x.data() + row * size;
    Number mean = 0, variance = 0;
    for (int64_t i = 0; i < size; ++i)
      mean += values[i] / Number(size);
    for (int64_t i = 0; i < size; ++i)
      variance += (values[i] - mean) * (values[i] - mean) / Number(size);
    const Number deviation = std::sqrt(variance + op.getEps().convertToDouble());
    const auto group = size_t(row % groups);
    for (int64_t i = 0; i < size; ++i)
      y.x[size_t(row * size + i)] = (values[i] - mean) / deviation * gamma.x[group] + beta.x[group];
    means.x[size_t(row)] = mean;
    all.x[size_t(row)] = deviation;
  }
  Results results;
  for (Array *each : {&y, &means, &all})
    results.push_back(std::move(*each));
  return results;
}

Results splitV2(sym::SplitV2Op op, const Values &at) {
  const Array &x = at(op.getData());
  const int64_t axis = x.axis(int64_t(op.getAxis())), sections = int64_t(op.getSections());
  Results parts;
  for (auto [part, result] : llvm::enumerate(op.getOutputs())) {
    const int64_t first =
        sections > 0 ? int64_t(part) * (x.extent(axis) / sections) : op.getIndices()[part];
    parts.push_back(made(result, [&](Index i) {
      if (op.getSqueezeAxis())
        i = with(i, axis, 0);
      return x.at(replaced(i, axis, i[size_t(axis)] + first));
    }));
  }
  return parts;
}

} // namespace

void addImported(Rules &rules) {
  on<sym::DeconvolutionOp>(rules, deconvolution);
  on<sym::UpSamplingOp>(rules, upSampling);
  on<sym::LRNOp>(rules, lrn);
  on<sym::GroupNormOp>(rules, groupNorm);
  onExact<sym::SplitV2Op>(rules, splitV2);
}

} // namespace lstmc::nets::plain
