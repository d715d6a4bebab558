// Ops that combine the elements of axes.
#include <algorithm>
#include <cmath>
#include <functional>

#include "tests/nets/plain/Rules.h"

namespace lstmc::nets::plain {

namespace {

using Marks = std::vector<bool>;

Marks marked(const Array &x, std::optional<llvm::ArrayRef<int64_t>> axes, bool exclude = false) {
  if (!axes || axes->empty())
    return Marks(x.shape.size(), true);
  Marks marks(x.shape.size(), exclude);
  for (int64_t axis : *axes)
    marks[size_t(x.axis(axis))] = !exclude;
  return marks;
}

/// For each element of the result, the elements of `x` along the marked axes, in their order.
class Groups {
public:
  Groups(const Array &x, const Marks &marks) {
    Index kept = x.shape;
    for (size_t axis = 0; axis < marks.size(); ++axis)
      if (marks[axis])
        kept[axis] = 1;
    Array number = zerosOf(kept);
    for (size_t i = 0; i < number.x.size(); ++i)
      number.x[i] = Number(i);
    groups_.resize(number.x.size());
    size_t at = 0;
    forEach(x.shape,
            [&](const Index &i) { groups_[size_t(number.stretched(i))].push_back(x.x[at++]); });
  }
  const std::vector<std::vector<Number>> &all() const { return groups_; }

private:
  std::vector<std::vector<Number>> groups_;
};

using Group = std::vector<Number>;
using Reducer = Number (*)(const Group &);

Array reduced(mlir::Value result, const Array &x, const Marks &marks, Reducer reduce) {
  Array y = zerosFor(result);
  size_t i = 0;
  const Groups groups(x, marks);
  for (const Group &group : groups.all())
    y.x[i++] = reduce(group);
  return y;
}

Number sum(const Group &group) {
  Number total = 0;
  for (Number x : group)
    total += x;
  return total;
}
Number mean(const Group &group) { return sum(group) / Number(group.size()); }
Number largest(const Group &group) { return *std::max_element(group.begin(), group.end()); }
Number smallest(const Group &group) { return *std::min_element(group.begin(), group.end()); }
Number product(const Group &group) {
  Number total = 1;
  for (Number x : group)
    total *= x;
  return total;
}
Number sizes(const Group &group) {
  Number total = 0;
  for (Number x : group)
    total += std::fabs(x);
  return total;
}
Number length(const Group &group) {
  Number total = 0;
  for (Number x : group)
    total += Number(double(x * x)); // what is too small for a double is 0
  return std::sqrt(total);
}
/// NaN precedes all numbers.
template <typename Before> Number firstOf(const Group &group, Before before) {
  size_t best = 0;
  for (size_t e = 1; e < group.size(); ++e)
    if (!std::isnan(group[best]) && (std::isnan(group[e]) || before(group[e], group[best])))
      best = e;
  return Number(best);
}
Number firstLargest(const Group &group) { return firstOf(group, std::greater<Number>()); }
Number firstSmallest(const Group &group) { return firstOf(group, std::less<Number>()); }

/// An integer result is truncated, and saturates.
template <typename Op> void onAxes(Rules &rules, Reducer reduce) {
  on<Op>(rules, [reduce](Op op, const Values &at) {
    const Array &x = at(op.getData());
    Array y = reduced(op.getOutput(), x, marked(x, op.getAxis(), op.getExclude()), reduce);
    if (y.dtype != DType::F64)
      for (Number &number : y.x)
        number = std::fmin(std::fmax(std::trunc(number), -0x1p31L), 0x1p31L - 1);
    return y;
  });
}

template <typename Op> void onPlace(Rules &rules, Reducer reduce) {
  onExact<Op>(rules, [reduce](Op op, const Values &at) {
    const Array &x = at(op.getData());
    std::optional<llvm::ArrayRef<int64_t>> axes;
    int64_t axis = 0;
    if (op.getAxis()) {
      axis = int64_t(*op.getAxis());
      axes = llvm::ArrayRef<int64_t>(axis);
    }
    return reduced(op.getOutput(), x, marked(x, axes), reduce);
  });
}

//===---- softmax
//-------------------------------------------------------------------------------===//

/// Along an axis: of the first `count(row)` elements, each divided by `temperature`; 0 for others.
template <typename Count>
Array softmaxOf(mlir::Value result, const Array &x, int64_t axis, Number temperature, bool log,
                Count count) {
  Array y = zerosFor(result);
  size_t row = 0;
  forEach(replaced(x.shape, axis, 1), [&](const Index &i) {
    const int64_t most = count(row++);
    auto scaled = [&](int64_t c) { return x.at(replaced(i, axis, c)) / temperature; };
    Number top = -INFINITY, total = 0;
    for (int64_t c = 0; c < most; ++c)
      top = std::fmax(top, scaled(c));
    for (int64_t c = 0; c < most; ++c)
      total += std::exp(scaled(c) - top);
    for (int64_t c = 0; c < most; ++c)
      y.at(replaced(i, axis, c)) =
          log ? scaled(c) - top - std::log(total) : std::exp(scaled(c) - top) / total;
  });
  return y;
}

template <typename Op> void onSoftmax(Rules &rules, bool log, bool negated = false) {
  on<Op>(rules, [log, negated](Op op, const Values &at) {
    Array x = at(op.getData());
    if (negated)
      for (Number &number : x.x)
        number = -number;
    const Array *length = at.maybe(op.getLength());
    const int64_t axis = x.axis(int64_t(op.getAxis())), extent = x.extent(axis);
    const Number temperature = op.getTemperature() ? op.getTemperature()->convertToDouble() : 1;
    return softmaxOf(op.getOutput(), x, axis, temperature, log, [&](size_t row) {
      return length ? std::clamp<int64_t>(whole(length->x[row]), 0, extent) : extent;
    });
  });
}

/// Over all axes from `first` on, as one.
Array softmaxFrom(mlir::Value result, const Array &x, size_t first) {
  Array flat = x;
  int64_t classes = 1;
  for (size_t axis = first; axis < x.shape.size(); ++axis)
    classes *= x.shape[axis];
  flat.shape.resize(first);
  flat.shape.push_back(classes);
  // The result has as many elements, in the same order.
  Array y = zerosFor(result);
  for (int64_t row = 0; row < flat.count() / classes; ++row) {
    Number top = -INFINITY, total = 0;
    auto element = [&](int64_t c) { return flat.x[size_t(row * classes + c)]; };
    for (int64_t c = 0; c < classes; ++c)
      top = std::fmax(top, element(c));
    for (int64_t c = 0; c < classes; ++c)
      total += std::exp(element(c) - top);
    for (int64_t c = 0; c < classes; ++c)
      y.x[size_t(row * classes + c)] = std::exp(element(c) - top) / total;
  }
  return y;
}

//===---- normalisation
//-------------------------------------------------------------------------===//

Results layerNorm(sym::LayerNormOp op, const Values &at) {
  const Array &x = at(op.getData()), &gamma = at(op.getGamma()), &beta = at(op.getBeta());
  const int64_t axis = x.axis(int64_t(op.getAxis())), width = x.extent(axis);
  Array y = zerosFor(op.getOutput()), means = zerosFor(op.getMean()), last = zerosFor(op.getRstd());
  size_t row = 0;
  forEach(replaced(x.shape, axis, 1), [&](const Index &i) {
    Number average = 0, variance = 0;
    for (int64_t c = 0; c < width; ++c)
      average += x.at(replaced(i, axis, c)) / Number(width);
    for (int64_t c = 0; c < width; ++c) {
      const Number away = x.at(replaced(i, axis, c)) - average;
      variance += away * away / Number(width);
    }
    const Number deviation = std::sqrt(variance + op.getEps().convertToDouble());
    for (int64_t c = 0; c < width; ++c)
      y.at(replaced(i, axis, c)) =
          (x.at(replaced(i, axis, c)) - average) / deviation * gamma.x[size_t(c)] +
          beta.x[size_t(c)];
    means.x[row] = average;
    last.x[row++] = op.getOutputMeanVar() ? deviation : 1 / deviation;
  });
  Results results;
  for (Array *array : {&y, &means, &last})
    results.push_back(std::move(*array));
  return results;
}

Array l2Normalization(sym::L2NormalizationOp op, const Values &at) {
  const Array &x = at(op.getData());
  Marks marks(x.shape.size(), op.getMode() != "channel");
  marks[0] = false;
  marks[1] = op.getMode() != "spatial";
  Index kept = x.shape;
  for (size_t axis = 0; axis < marks.size(); ++axis)
    if (marks[axis])
      kept[axis] = 1;
  Array norms = zerosOf(kept);
  size_t i = 0;
  const Groups groups(x, marks);
  for (const Group &group : groups.all()) {
    Number squares = op.getEps().convertToDouble();
    for (Number number : group)
      squares += number * number;
    norms.x[i++] = std::sqrt(squares);
  }
  return made(op.getOutput(), [&](const Index &at) { return x.at(at) / norms.stretched(at); });
}

Array cumsum(sym::CumsumOp op, const Values &at) {
  Array x = at(op.getA());
  Array y = zerosFor(op.getOutput());
  if (y.dtype != DType::F64) // converted first
    for (Number &number : x.x)
      number = std::trunc(number);
  const int64_t axis = op.getAxis() ? x.axis(int64_t(*op.getAxis())) : 0;
  x.shape = y.shape; // without `axis` it is one row
  forEach(y.shape, [&](const Index &i) {
    const int64_t place = i[size_t(axis)];
    y.at(i) = x.at(i) + (place == 0 ? 0 : y.at(replaced(i, axis, place - 1)));
  });
  return y;
}

} // namespace

void addReductions(Rules &rules) {
  onAxes<sym::SumOp>(rules, sum);
  onAxes<sym::MeanOp>(rules, mean);
  onAxes<sym::MaxOp>(rules, largest);
  onAxes<sym::MinOp>(rules, smallest);
  onAxes<sym::ProdOp>(rules, product);
  on<sym::NormOp>(rules, [](sym::NormOp op, const Values &at) {
    const Array &x = at(op.getData());
    return reduced(op.getOutput(), x, marked(x, op.getAxis()), op.getOrd() == 1 ? sizes : length);
  });
  onPlace<sym::ArgmaxOp>(rules, firstLargest);
  onPlace<sym::ArgminOp>(rules, firstSmallest);
  onSoftmax<sym::SoftmaxOp>(rules, false);
  onSoftmax<sym::LogSoftmaxOp>(rules, true);
  onSoftmax<sym::SoftminOp>(rules, false, true);
  on<sym::LayerNormOp>(rules, layerNorm);
  on<sym::L2NormalizationOp>(rules, l2Normalization);
  on<sym::CumsumOp>(rules, cumsum);
  on<sym::SoftmaxActivationOp>(rules, [](sym::SoftmaxActivationOp op, const Values &at) {
    const Array &x = at(op.getData());
    if (op.getMode() == "instance")
      return softmaxFrom(op.getOutput(), x, 1);
    return softmaxOf(op.getOutput(), x, 1, 1, false, [&](size_t) { return x.extent(1); });
  });
  on<sym::SoftmaxOutputOp>(rules, [](sym::SoftmaxOutputOp op, const Values &at) {
    const Array &x = at(op.getData());
    if (!op.getMultiOutput() && !op.getPreserveShape())
      return softmaxFrom(op.getOutput(), x, 1);
    const int64_t axis = op.getMultiOutput() ? 1 : x.rank() - 1;
    return softmaxOf(op.getOutput(), x, axis, 1, false, [&](size_t) { return x.extent(axis); });
  });
}

} // namespace lstmc::nets::plain
