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
    return made(op.getOutput(), [&](const Index &i) {
      return start + Number(i[0] / int64_t(op.getRepeat())) * op.getStep().convertToDouble();
    });
  });
  on<sym::ArangeLikeOp>(rules, [](sym::ArangeLikeOp op, const Values &) {
    Array y = zerosFor(op.getOutput());
    for (int64_t i = 0; i < y.count(); ++i)
      y.x[size_t(i)] = op.getStart().convertToDouble() +
                       Number(i / int64_t(op.getRepeat())) * op.getStep().convertToDouble();
    return y;
  });
}

} // namespace lstmc::nets::plain
