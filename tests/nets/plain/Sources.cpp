// Ops that make numbers from nothing. Random numbers are switched off: the range is one number, the
// deviation 0.
#include <cmath>

#include "tests/nets/plain/Rules.h"

namespace lstmc::nets::plain {

namespace {

template <typename Op, typename F> void onNumber(Rules &rules, F numberOf) {
  onExact<Op>(rules, [numberOf](Op op, const Values &) {
    return made(op->getResult(0), [&](const Index &) { return Number(numberOf(op)); });
  });
}

/// start, start + step, .., each `repeat` times; integers drop the fractions of both first.
Array range(mlir::Value output, double start, double step, int64_t repeat) {
  if (mlir::getElementTypeOrSelf(output).isInteger()) {
    start = std::trunc(start);
    step = std::trunc(step);
  }
  Array y = zerosFor(output);
  for (int64_t i = 0; i < y.count(); ++i)
    y.x[size_t(i)] = start + Number(i / repeat) * step;
  return y;
}

} // namespace

void addSources(Rules &rules) {
  onNumber<sym::ZerosOp>(rules, [](sym::ZerosOp) { return 0; });
  onNumber<sym::OnesOp>(rules, [](sym::OnesOp) { return 1; });
  onNumber<sym::FullOp>(rules, [](sym::FullOp op) { return op.getValue().convertToDouble(); });
  onNumber<sym::RandomUniformOp>(
      rules, [](sym::RandomUniformOp op) { return op.getLow().convertToDouble(); });
  onNumber<sym::RandomNormalOp>(
      rules, [](sym::RandomNormalOp op) { return op.getMean().convertToDouble(); });
  on<sym::ArangeOp>(rules, [](sym::ArangeOp op, const Values &) {
    const double start = op.getStop() ? op.getStart().convertToDouble() : 0;
    return range(op.getOutput(), start, op.getStep().convertToDouble(), int64_t(op.getRepeat()));
  });
  on<sym::ArangeLikeOp>(rules, [](sym::ArangeLikeOp op, const Values &) {
    return range(op.getOutput(), op.getStart().convertToDouble(), op.getStep().convertToDouble(),
                 int64_t(op.getRepeat()));
  });
}

} // namespace lstmc::nets::plain
