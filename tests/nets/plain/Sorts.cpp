// Ops that put an axis in order; equal elements keep theirs.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "tests/nets/plain/Rules.h"

namespace lstmc::nets::plain {

namespace {

/// For each row along `axis`, the places of its elements in order. Where there is a NaN no order
/// has a meaning, and all values and places are NaN.
class Order {
public:
  Order(const Array &x, int64_t axis, bool ascends) : axis_(x.axis(axis)) {
    places_ = zerosOf(x.shape);
    known_ = std::ranges::none_of(x.x, [](Number number) { return std::isnan(number); });
    if (!known_)
      return;
    forEach(replaced(x.shape, axis_, 1), [&](const Index &row) {
      std::vector<int64_t> order(size_t(x.extent(axis_)));
      std::iota(order.begin(), order.end(), 0);
      auto element = [&](int64_t place) { return x.at(replaced(row, axis_, place)); };
      std::sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
        if (element(a) == element(b))
          return a < b;
        return (element(a) < element(b)) == ascends;
      });
      for (size_t rank = 0; rank < order.size(); ++rank)
        places_.at(replaced(row, axis_, int64_t(rank))) = Number(order[rank]);
    });
  }
  /// Where the element that is in order at `i` comes from.
  Index from(const Index &i) const { return replaced(i, axis_, int64_t(places_.at(i))); }
  Number place(const Index &i) const { return known_ ? places_.at(i) : NAN; }
  Number value(const Array &x, const Index &i) const { return known_ ? x.at(from(i)) : NAN; }
  int64_t axis() const { return axis_; }

private:
  int64_t axis_;
  Array places_;
  bool known_ = true;
};

Results topk(sym::TopkOp op, const Values &at) {
  const Array &x = at(op.getData());
  const Order order(x, int64_t(op.getAxis()), op.getIsAscend());
  if (op.getRetTyp() == "mask") {
    const int64_t k = int64_t(op.getK()) < 1 ? x.extent(order.axis()) : int64_t(op.getK());
    Array mask = zerosFor(op.getOutputs().front());
    forEach(x.shape, [&](const Index &i) {
      if (i[size_t(order.axis())] < k)
        mask.at(order.from(i)) = 1;
    });
    return asResults(std::move(mask));
  }
  Results results;
  if (op.getRetTyp() != "indices")
    results.push_back(
        made(op.getOutputs().front(), [&](const Index &i) { return order.value(x, i); }));
  if (op.getRetTyp() != "value")
    results.push_back(made(op.getOutputs().back(), [&](const Index &i) { return order.place(i); }));
  return results;
}

} // namespace

void addSorts(Rules &rules) {
  onExact<sym::SortOp>(rules, [](sym::SortOp op, const Values &at) {
    const Array &x = at(op.getData());
    const Order order(x, int64_t(op.getAxis()), op.getIsAscend());
    return made(op.getOutput(), [&](const Index &i) { return order.value(x, i); });
  });
  onExact<sym::ArgsortOp>(rules, [](sym::ArgsortOp op, const Values &at) {
    const Order order(at(op.getData()), int64_t(op.getAxis()), op.getIsAscend());
    return made(op.getOutput(), [&](const Index &i) { return order.place(i); });
  });
  onExact<sym::TopkOp>(rules, topk);
}

} // namespace lstmc::nets::plain
