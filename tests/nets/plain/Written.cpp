// Ops of ir/sym/WrittenOps.td, outside of training.
#include <algorithm>
#include <cmath>

#include "ir/sym/WrittenOps.h"
#include "tests/nets/plain/Rules.h"

namespace lstmc::nets::plain {

namespace {

Results batchNorm(sym::BatchNormOp op, const Values &at) {
  const Array &x = at(op.getData()), &gamma = at(op.getGamma()), &beta = at(op.getBeta());
  const Array &mean = at(op.getMovingMean()), &variance = at(op.getMovingVar());
  const auto axis = size_t(x.axis(op.getAxis()));
  Array inverse = zerosFor(op.getInverseStd());
  for (size_t c = 0; c < inverse.x.size(); ++c)
    inverse.x[c] = 1 / std::sqrt(variance.x[c] + Number(op.getEps().convertToDouble()));
  Results all;
  all.push_back(made(op.getOutput(), [&](const Index &i) {
    const auto c = size_t(i[axis]);
    const Number scale = op.getFixGamma() ? Number(1) : gamma.x[c];
    return (x.at(i) - mean.x[c]) * inverse.x[c] * scale + beta.x[c];
  }));
  all.push_back(mean);
  all.push_back(std::move(inverse));
  return all;
}

/// The classes of row n, between blanks.
std::vector<int64_t> placesOf(sym::CTCLossOp op, const Values &at, int64_t n, int64_t blank,
                              int64_t classes) {
  const Array &label = at(op.getLabel()), *lengths = at.maybe(op.getLabelLengths());
  std::vector<int64_t> places = {blank};
  for (int64_t l = 0; l < label.shape[1]; ++l) {
    const int64_t one = whole(label.at({n, l}));
    if (lengths ? l >= whole(lengths->x[size_t(n)]) : blank == 0 ? one == 0 : one < 0)
      break;
    places.push_back(inside(Number(one), classes));
    places.push_back(blank);
  }
  return places;
}

/// The forward recursion (alpha) of one row in the linear domain, from logarithms of probabilities.
Number ctcOfRow(llvm::ArrayRef<int64_t> places, int64_t blank, int64_t steps,
                llvm::function_ref<Number(int64_t, int64_t)> logOf) {
  std::vector<Number> alpha(places.size(), 0);
  for (int64_t t = 0; t < steps; ++t)
    for (size_t s = places.size(); s-- > 0;) { // descending: places before are those of t - 1
      Number came = t == 0 ? Number(s < 2) : alpha[s];
      if (t > 0 && s > 0)
        came += alpha[s - 1];
      if (t > 0 && s > 1 && places[s] != blank && places[s] != places[s - 2])
        came += alpha[s - 2];
      alpha[s] = came * std::exp(logOf(t, places[s]));
    }
  const Number all = alpha.back() + (alpha.size() > 1 ? alpha[alpha.size() - 2] : Number(0));
  return steps < 1 || all == 0 ? Number(0) : -std::log(all);
}

Array ctcLoss(sym::CTCLossOp op, const Values &at) {
  const Array &x = at(op.getData()), *lengths = at.maybe(op.getDataLengths());
  const int64_t classes = x.shape[2], blank = op.getBlankLabel() == "first" ? 0 : classes - 1;
  return made(op.getOutput(), [&](const Index &i) {
    const int64_t n = i[0];
    const int64_t steps = lengths ? std::min(whole(lengths->x[size_t(n)]), x.shape[0]) : x.shape[0];
    auto logOf = [&](int64_t t, int64_t k) {
      Number most = -INFINITY, sum = 0;
      for (int64_t c = 0; c < classes; ++c)
        most = std::max(most, x.at({t, n, c}));
      for (int64_t c = 0; c < classes; ++c)
        sum += std::exp(x.at({t, n, c}) - most);
      return x.at({t, n, k}) - most - std::log(sum);
    };
    return ctcOfRow(placesOf(op, at, n, blank, classes), blank, steps, logOf);
  });
}

} // namespace

void addWritten(Rules &rules) {
  on<sym::BatchNormOp>(rules, batchNorm);
  on<sym::CTCLossOp>(rules, ctcLoss);
}

} // namespace lstmc::nets::plain
