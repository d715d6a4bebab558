// A stack of recurrent layers, step by step.
#include <algorithm>
#include <cmath>

#include "tests/nets/plain/Rules.h"

namespace lstmc::nets::plain {

namespace {

/// The parts of the parameter vector: weights of all layers and directions, then all biases.
class Parameters {
public:
  /// `width`: width of the recurrent state; `projected` if it differs from the units.
  Parameters(const Array &vector, int64_t inputs, int64_t units, int64_t width, bool projected,
             int64_t layers, int64_t directions, int64_t gates)
      : x_(vector.x.data()) {
    int64_t at = 0;
    auto next = [&](int64_t count) { return std::exchange(at, at + count); };
    for (int64_t layer = 0; layer < layers; ++layer)
      for (int64_t direction = 0; direction < directions; ++direction) {
        const int64_t in = layer == 0 ? inputs : width * directions;
        const int64_t w = next(gates * units * in), r = next(gates * units * width);
        layers_.push_back({w, r, next(projected ? width * units : 0), 0, 0});
      }
    for (Offsets &offsets : layers_) {
      offsets.bi = next(gates * units);
      offsets.bh = next(gates * units);
    }
  }
  struct Offsets {
    int64_t w, r, projection, bi, bh;
  };
  const Offsets &of(int64_t which) const { return layers_[size_t(which)]; }
  Number operator[](int64_t i) const { return x_[i]; }

private:
  const Number *x_;
  std::vector<Offsets> layers_;
};

struct Stack {
  const Values &at;
  llvm::StringRef mode;
  Array x; ///< of the layer at work: [T, B, inputs]
  const Array *lengths, *h0, *c0;
  int64_t steps, batch, units, width, gates;
  bool projected;
  std::optional<std::pair<double, double>> range; ///< of c
  bool rangeOfNan;

  Number clipped(Number c) const {
    if (!range || (std::isnan(c) && !rangeOfNan))
      return c;
    return std::isnan(c) || c < range->first ? range->first : c > range->second ? range->second : c;
  }
  int64_t length(int64_t b) const { return lengths ? whole(lengths->x[size_t(b)]) : steps; }
};

struct Sums {
  Number input[4], recurrent[4];
};

/// W x + bi and R h + bh of each gate of a unit.
Sums sumsOf(const Stack &stack, const Parameters &p, int64_t which, int64_t t, int64_t b,
            int64_t unit, const std::vector<Number> &h) {
  const Parameters::Offsets &at = p.of(which);
  const int64_t inputs = stack.x.shape[2];
  Sums sums{};
  for (int64_t g = 0; g < stack.gates; ++g) {
    const int64_t row = g * stack.units + unit;
    sums.input[g] = p[at.bi + row];
    for (int64_t k = 0; k < inputs; ++k)
      sums.input[g] += p[at.w + row * inputs + k] * stack.x.at({t, b, k});
    sums.recurrent[g] = p[at.bh + row];
    for (int64_t k = 0; k < stack.width; ++k)
      sums.recurrent[g] += p[at.r + row * stack.width + k] * h[size_t(k)];
  }
  return sums;
}

/// The new h of a unit; `c` is replaced by the new c. Gates are rounded: their products may cancel.
Number advance(const Stack &stack, const Sums &s, Number h, Number &c) {
  const llvm::StringRef mode = stack.mode;
  auto z = [&](int gate) { return s.input[gate] + s.recurrent[gate]; };
  auto sigmoid = [&](Number x) { return stack.at.rounded(1 / (1 + std::exp(-x))); };
  auto tanh = [&](Number x) { return stack.at.rounded(std::tanh(x)); };
  if (mode == "rnn_relu")
    return std::fmax(z(0), 0);
  if (mode == "rnn_tanh")
    return tanh(z(0));
  if (mode == "lstm") { // i f g o
    c = stack.clipped(sigmoid(z(1)) * c + sigmoid(z(0)) * tanh(z(2)));
    return sigmoid(z(3)) * tanh(c);
  }
  const Number r = sigmoid(z(0)), u = sigmoid(z(1)); // gru: r z n
  const Number n = tanh(s.input[2] + r * s.recurrent[2]);
  return (1 - u) * n + u * h;
}

/// W_h2r h.
std::vector<Number> projected(const Stack &stack, const Parameters &p, int64_t which,
                              const std::vector<Number> &h) {
  std::vector<Number> r(size_t(stack.width));
  for (int64_t u = 0; u < stack.width; ++u)
    for (int64_t k = 0; k < stack.units; ++k)
      r[size_t(u)] += p[p.of(which).projection + u * stack.units + k] * h[size_t(k)];
  return r;
}

/// One direction of one layer into `y` [T, B, D*H]; its last states into `hN`, `cN` [L*D, B, H].
void runDirection(const Stack &stack, const Parameters &p, int64_t layer, int64_t direction,
                  int64_t directions, Array &y, Array &hN, Array &cN) {
  const int64_t which = layer * directions + direction;
  for (int64_t b = 0; b < stack.batch; ++b) {
    std::vector<Number> h(size_t(stack.width)), c(size_t(stack.units)), made(c.size());
    for (int64_t u = 0; u < stack.width; ++u)
      h[size_t(u)] = stack.h0 ? stack.h0->at({which, b, u}) : 0;
    for (int64_t u = 0; u < stack.units; ++u)
      c[size_t(u)] = stack.c0 ? stack.c0->at({which, b, u}) : 0;
    const int64_t real = std::clamp<int64_t>(stack.length(b), 0, stack.steps);
    for (int64_t s = 0; s < real; ++s) {
      const int64_t t = direction == 0 ? s : real - 1 - s;
      for (int64_t u = 0; u < stack.units; ++u) {
        const Sums sums = sumsOf(stack, p, which, t, b, u, h);
        const Number before = stack.projected ? 0 : h[size_t(u)]; // which lstm does not read
        made[size_t(u)] = advance(stack, sums, before, c[size_t(u)]);
      }
      h = stack.projected ? projected(stack, p, which, made) : made;
      for (int64_t u = 0; u < stack.width; ++u)
        y.at({t, b, direction * stack.width + u}) = h[size_t(u)];
    }
    for (int64_t u = 0; u < stack.width; ++u)
      hN.at({which, b, u}) = h[size_t(u)];
    for (int64_t u = 0; u < stack.units; ++u)
      cN.at({which, b, u}) = c[size_t(u)];
  }
}

Results rnn(sym::RnnOp op, const Values &at) {
  const Array &x = at(op.getData());
  const llvm::StringRef mode = op.getMode();
  const bool isProjected = op.getProjectionSize().has_value();
  const auto units = int64_t(op.getStateSize());
  Stack stack{.at = at,
              .mode = mode,
              .x = x,
              .lengths = at.maybe(op.getSequenceLength()),
              .h0 = at.maybe(op.getState()),
              .c0 = at.maybe(op.getStateCell()),
              .steps = x.shape[0],
              .batch = x.shape[1],
              .units = units,
              .width = isProjected ? int64_t(*op.getProjectionSize()) : units,
              .gates = mode == "lstm"  ? 4
                       : mode == "gru" ? 3
                                       : 1,
              .projected = isProjected,
              .range = {},
              .rangeOfNan = op.getLstmStateClipNan()};
  if (op.getLstmStateClipMin())
    stack.range = {op.getLstmStateClipMin()->convertToDouble(),
                   op.getLstmStateClipMax()->convertToDouble()};
  const int64_t layers = int64_t(op.getNumLayers()), directions = op.getBidirectional() ? 2 : 1;
  const Parameters p(at(op.getParameters()), x.shape[2], units, stack.width, isProjected, layers,
                     directions, stack.gates);
  Array hN = zerosOf({layers * directions, stack.batch, stack.width});
  Array cN = zerosOf({layers * directions, stack.batch, units});
  for (int64_t layer = 0; layer < layers; ++layer) {
    Array y = zerosOf({stack.steps, stack.batch, directions * stack.width});
    for (int64_t direction = 0; direction < directions; ++direction)
      runDirection(stack, p, layer, direction, directions, y, hN, cN);
    stack.x = std::move(y);
  }
  Results results;
  results.push_back(std::move(stack.x));
  results.push_back(std::move(hN));
  results.push_back(std::move(cN));
  results.resize(op->getNumResults());
  return results;
}

} // namespace

void addRecurrences(Rules &rules) { on<sym::RnnOp>(rules, rnn); }

} // namespace lstmc::nets::plain
