// Results of loss heads; SoftmaxOutput is with the other softmaxes.
#include <cmath>

#include "tests/nets/plain/Rules.h"

namespace lstmc::nets::plain {

namespace {

template <typename Op> void onIdentity(Rules &rules) {
  onExact<Op>(rules, [](Op op, const Values &at) { return at(op.getData()); });
}

Array crossEntropy(sym::SoftmaxCrossEntropyOp op, const Values &at) {
  const Array &x = at(op.getData()), &label = at(op.getLabel());
  Array y = zerosFor(op.getOutput());
  for (int64_t row = 0; row < x.shape[0]; ++row) {
    Number top = -INFINITY, total = 0;
    for (int64_t c = 0; c < x.shape[1]; ++c)
      top = std::fmax(top, x.at({row, c}));
    for (int64_t c = 0; c < x.shape[1]; ++c)
      total += std::exp(x.at({row, c}) - top);
    const int64_t wanted = inside(label.x[size_t(row)], x.shape[1]);
    y.x[0] -= x.at({row, wanted}) - top - std::log(total);
  }
  return y;
}

} // namespace

void addHeads(Rules &rules) {
  onIdentity<sym::LinearRegressionOutputOp>(rules);
  onIdentity<sym::MaeRegressionOutputOp>(rules);
  onIdentity<sym::SvmOutputOp>(rules);
  onIdentity<sym::MakeLossOp>(rules);
  on<sym::LogisticRegressionOutputOp>(rules,
                                      [](sym::LogisticRegressionOutputOp op, const Values &at) {
                                        Array y = at(op.getData());
                                        for (Number &x : y.x)
                                          x = 1 / (1 + std::exp(-x));
                                        return y;
                                      });
  on<sym::SoftmaxCrossEntropyOp>(rules, crossEntropy);
}

} // namespace lstmc::nets::plain
