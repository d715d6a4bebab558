// Element-wise ops: unary, binary on one shape, binary with broadcasting, and on a number.
#include <cmath>
#include <numbers>

#include "tests/nets/plain/Rules.h"

namespace lstmc::nets::plain {

namespace {

using Unary = Number (*)(Number);
using Binary = Number (*)(Number, Number);

constexpr Number kPi = std::numbers::pi_v<Number>;

Number sign(Number x) { return x > 0 ? 1 : x < 0 ? -1 : 0; }
Number sigmoid(Number x) { return 1 / (1 + std::exp(-x)); }
Number softplus(Number x) { return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x)); }
Number gelu(Number x) { return x / 2 * std::erfc(-x / std::sqrt(Number(2))); }
Number mish(Number x) { return x * std::tanh(softplus(x)); }
Number softsign(Number x) { return x / (1 + std::fabs(x)); }
Number relu(Number x) { return x > 0 ? x : 0; }
Number logSigmoid(Number x) { return -softplus(-x); }

/// The nearest integer; the lower one of two.
Number rint(Number x) {
  Number below = std::floor(x), above = std::ceil(x);
  return x - below <= above - x ? below : above;
}

/// Uses psi(x) = psi(x + 1) - 1 / x, and the asymptotic series from 20 on.
Number digamma(Number x) {
  Number sum = 0;
  if (x <= 0 && x == std::floor(x))
    return NAN; // a pole
  if (x < 0)    // psi(1 - x) - psi(x) = pi / tan(pi x)
    return digamma(1 - x) - kPi / std::tan(kPi * x);
  for (; x < 20; x += 1)
    sum -= 1 / x;
  Number s = 1 / (x * x);
  return sum + std::log(x) - 1 / (2 * x) -
         s * (1 / 12.0L -
              s * (1 / 120.0L - s * (1 / 252.0L - s * (1 / 240.0L - s * (1 / 132.0L)))));
}

/// Bisection, then Newton's steps.
Number erfinv(Number y) {
  if (std::fabs(y) >= 1)
    return y == 1 ? INFINITY : y == -1 ? -INFINITY : NAN;
  Number low = -7, high = 7;
  for (int i = 0; i < 40; ++i) {
    Number middle = (low + high) / 2;
    (std::erf(middle) < y ? low : high) = middle;
  }
  Number x = (low + high) / 2;
  for (int i = 0; i < 3; ++i)
    x -= (std::erf(x) - y) * std::sqrt(kPi) / 2 * std::exp(x * x);
  return y == 0 ? 0 : x;
}

const llvm::StringMap<Unary> &unaries() {
  static const llvm::StringMap<Unary> all = {
      {"copy", [](Number x) { return x; }},
      {"block_grad", [](Number x) { return x; }},
      {"zeros_like", [](Number) { return Number(0); }},
      {"ones_like", [](Number) { return Number(1); }},
      {"negative", [](Number x) { return -x; }},
      {"abs", [](Number x) { return std::fabs(x); }},
      {"square", [](Number x) { return x * x; }},
      {"sign", sign},
      {"round", [](Number x) { return std::round(x); }},
      {"rint", rint},
      {"ceil", [](Number x) { return std::ceil(x); }},
      {"floor", [](Number x) { return std::floor(x); }},
      {"trunc", [](Number x) { return std::trunc(x); }},
      {"fix", [](Number x) { return std::trunc(x); }},
      {"logical_not", [](Number x) { return Number(x == 0); }},
      {"reciprocal", [](Number x) { return 1 / x; }},
      {"sqrt", [](Number x) { return std::sqrt(x); }},
      {"rsqrt", [](Number x) { return 1 / std::sqrt(x); }},
      {"cbrt", [](Number x) { return std::cbrt(x); }},
      {"rcbrt", [](Number x) { return 1 / std::cbrt(x); }},
      {"exp", [](Number x) { return std::exp(x); }},
      {"expm1", [](Number x) { return std::expm1(x); }},
      {"log", [](Number x) { return std::log(x); }},
      {"log10", [](Number x) { return std::log10(x); }},
      {"log2", [](Number x) { return std::log2(x); }},
      {"log1p", [](Number x) { return std::log1p(x); }},
      {"sin", [](Number x) { return std::sin(x); }},
      {"cos", [](Number x) { return std::cos(x); }},
      {"tan", [](Number x) { return std::tan(x); }},
      {"arcsin", [](Number x) { return std::asin(x); }},
      {"arccos", [](Number x) { return std::acos(x); }},
      {"arctan", [](Number x) { return std::atan(x); }},
      {"sinh", [](Number x) { return std::sinh(x); }},
      {"cosh", [](Number x) { return std::cosh(x); }},
      {"tanh", [](Number x) { return std::tanh(x); }},
      {"arcsinh", [](Number x) { return std::asinh(x); }},
      {"arccosh", [](Number x) { return std::acosh(x); }},
      {"arctanh", [](Number x) { return std::atanh(x); }},
      {"degrees", [](Number x) { return x * 180 / kPi; }},
      {"radians", [](Number x) { return x * kPi / 180; }},
      {"gamma", [](Number x) { return std::tgamma(x); }},
      {"gammaln", [](Number x) { return std::lgamma(x); }},
      {"digamma", digamma},
      {"erf", [](Number x) { return std::erf(x); }},
      {"erfinv", erfinv},
      {"relu", relu},
      {"sigmoid", sigmoid},
      {"softsign", softsign},
      {"softplus", softplus},
      {"log_sigmoid", logSigmoid},
      {"silu", [](Number x) { return x * sigmoid(x); }},
      {"mish", mish},
      {"gelu", gelu},
  };
  return all;
}

/// The result has the sign of b; for b = 0 it is 0.
Number modulo(Number a, Number b) {
  if (b == 0)
    return 0;
  Number rest = std::fmod(a, b);
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

struct Function {
  const char *name;
  Binary of;
};
constexpr Function kFunctions[] = {
    {"add", [](Number a, Number b) { return a + b; }},
    {"sub", [](Number a, Number b) { return a - b; }},
    {"mul", [](Number a, Number b) { return a * b; }},
    {"mod", modulo},
    {"power", [](Number a, Number b) { return std::pow(a, b); }},
    {"maximum", [](Number a, Number b) { return a > b || std::isnan(a) ? a : b; }},
    {"minimum", [](Number a, Number b) { return a < b || std::isnan(a) ? a : b; }},
    {"hypot", [](Number a, Number b) { return std::hypot(a, b); }},
    {"equal", [](Number a, Number b) { return Number(a == b); }},
    {"not_equal", [](Number a, Number b) { return Number(a != b); }},
    {"greater", [](Number a, Number b) { return Number(a > b); }},
    {"greater_equal", [](Number a, Number b) { return Number(a >= b); }},
    {"lesser", [](Number a, Number b) { return Number(a < b); }},
    {"lesser_equal", [](Number a, Number b) { return Number(a <= b); }},
    {"logical_and", [](Number a, Number b) { return Number(a != 0 && b != 0); }},
    {"logical_or", [](Number a, Number b) { return Number(a != 0 || b != 0); }},
    {"logical_xor", [](Number a, Number b) { return Number((a != 0) != (b != 0)); }},
};

Number divide(Number a, Number b) { return a / b; }
/// Integers truncate; division by 0 gives 0.
Number divideWhole(Number a, Number b) { return b == 0 ? 0 : Number(int64_t(a) / int64_t(b)); }

using OnPair = std::function<Number(Number, Number, bool integer)>;

/// The forms of a function of two, under their names.
void addForms(Rules &rules, const std::string &name, const OnPair &f) {
  auto pair = [f](mlir::Operation *op, const Values &at) {
    const Array &a = at(op->getOperand(0)), &b = at(op->getOperand(1));
    return asResults(made(op->getResult(0), [&](const Index &i) {
      return f(a.stretched(i), b.stretched(i), a.dtype != DType::F64);
    }));
  };
  auto withNumber = [f](bool first) {
    return [f, first](mlir::Operation *op, const Values &at) {
      const Array &data = at(op->getOperand(0));
      const bool integer = data.dtype != DType::F64;
      Number number = op->getAttrOfType<mlir::FloatAttr>("scalar").getValueAsDouble();
      if (integer)
        number = std::trunc(number);
      return asResults(made(op->getResult(0), [&](const Index &i) {
        return first ? f(number, data.at(i), integer) : f(data.at(i), number, integer);
      }));
    };
  };
  const bool arithmetic = name == "add" || name == "sub" || name == "mul" || name == "div";
  const std::string scalar = name == "add" ? "plus" : name == "sub" ? "minus" : name;
  rules[(arithmetic ? "sym.elemwise_" : "sym.") + name] = {pair, false};
  rules["sym.broadcast_" + name] = {pair, false};
  rules["sym." + scalar + "_scalar"] = {withNumber(false), false};
  if (name == "sub" || name == "div" || name == "mod" || name == "power")
    rules["sym.r" + scalar + "_scalar"] = {withNumber(true), false};
}

Number activation(llvm::StringRef type, Number x) {
  return type == "relu"          ? relu(x)
         : type == "sigmoid"     ? sigmoid(x)
         : type == "tanh"        ? std::tanh(x)
         : type == "softrelu"    ? softplus(x)
         : type == "log_sigmoid" ? logSigmoid(x)
         : type == "mish"        ? mish(x)
                                 : softsign(x);
}

/// LeakyReLU of an element; `slope` is the element's slope.
Number rectified(llvm::StringRef type, Number x, Number slope) {
  if (type == "gelu")
    return gelu(x);
  if (type == "selu") {
    const Number scale = 1.0507009873554805L, alpha = 1.6732632423543772L;
    return scale * (x > 0 ? x : alpha * std::expm1(x));
  }
  if (x > 0)
    return x;
  return type == "elu" ? slope * std::expm1(x) : slope * x;
}

Array leakyRelu(sym::LeakyReluOp op, const Values &at) {
  const Array &x = at(op.getData()), *gamma = at.maybe(op.getGamma());
  Number slope = op.getSlope().convertToDouble();
  if (op.getActType() == "rrelu")
    slope =
        (Number(op.getLowerBound().convertToDouble()) + op.getUpperBound().convertToDouble()) / 2;
  const size_t channel = x.rank() == 1 ? 0 : 1;
  return made(op.getOutput(), [&](const Index &i) {
    Number own = slope;
    if (gamma)
      own = gamma->x[gamma->count() == 1 ? 0 : size_t(i[channel])];
    return rectified(op.getActType(), x.at(i), own);
  });
}

/// Conversion of floats saturates to 32 and 64 bits, and wraps around to fewer bits.
Number converted(Number x, DType to) {
  if (to == DType::F64 || to == DType::Bool)
    return x;
  const Number least = to == DType::I64 ? -0x1p63L : -0x1p31L;
  return std::isnan(x) ? 0 : std::fmin(std::fmax(std::trunc(x), least), -least - 1);
}

Array cast(sym::CastOp op, const Values &at) {
  const Array &x = at(op.getData());
  const bool fromInteger = x.dtype != DType::F64;
  const DType to = zerosFor(op.getOutput()).dtype;
  return made(op.getOutput(),
              [&](const Index &i) { return fromInteger ? x.at(i) : converted(x.at(i), to); });
}

Array where(sym::WhereOp op, const Values &at) {
  const Array &condition = at(op.getCondition()), &x = at(op.getX()), &y = at(op.getY());
  const bool perRow = condition.rank() != x.rank();
  return made(op->getResult(0), [&](const Index &i) {
    return (perRow ? condition.x[size_t(i[0])] : condition.at(i)) != 0 ? x.at(i) : y.at(i);
  });
}

/// An op of one operand with attributes: f(op, x).
template <typename Op, typename F> void onElements(Rules &rules, F f) {
  on<Op>(rules, [f](Op op, const Values &at) {
    const Array &x = at(op->getOperand(0));
    return made(op->getResult(0), [&](const Index &i) { return f(op, x.at(i)); });
  });
}

} // namespace

void addElementwise(Rules &rules) {
  for (const auto &entry : unaries()) {
    Unary f = entry.getValue();
    rules["sym." + entry.getKey().str()] = {[f](mlir::Operation *op, const Values &at) {
                                              Array y = at(op->getOperand(0));
                                              for (Number &x : y.x)
                                                x = f(x);
                                              return asResults(std::move(y));
                                            },
                                            false};
  }
  for (const Function &function : kFunctions)
    addForms(rules, function.name, [f = function.of](Number a, Number b, bool) { return f(a, b); });
  addForms(rules, "div", [](Number a, Number b, bool integer) {
    return integer ? divideWhole(a, b) : divide(a, b);
  });

  onElements<sym::ActivationOp>(
      rules, [](sym::ActivationOp op, Number x) { return activation(op.getActType(), x); });
  onElements<sym::HardSigmoidOp>(rules, [](sym::HardSigmoidOp op, Number x) {
    Number line = Number(op.getAlpha().convertToDouble()) * x + op.getBeta().convertToDouble();
    return line < 0 ? Number(0) : line > 1 ? Number(1) : line; // NaN stays
  });
  onElements<sym::SmoothL1Op>(rules, [](sym::SmoothL1Op op, Number x) {
    Number s = op.getScalar().convertToDouble(), size = std::fabs(x);
    return size < 1 / (s * s) ? (s * x) * (s * x) / 2 : size - 1 / (2 * s * s);
  });
  on<sym::ClipOp>(rules, [](sym::ClipOp op, const Values &at) {
    const Array &x = at(op.getData());
    Number least = op.getAMin().convertToDouble(), most = op.getAMax().convertToDouble();
    if (x.dtype != DType::F64)
      least = std::trunc(least), most = std::trunc(most);
    return made(op.getOutput(), [&](const Index &i) {
      const Number number = x.at(i);
      return number < least ? least : number > most ? most : number; // NaN stays
    });
  });
  // Outside of training; `mode` always is switched off with p = 0.
  onElements<sym::DropoutOp>(rules, [](sym::DropoutOp, Number x) { return x; });
  on<sym::LeakyReluOp>(rules, leakyRelu);
  on<sym::CastOp>(rules, cast);
  on<sym::WhereOp>(rules, where);
  on<sym::AddNOp>(rules, [](sym::AddNOp op, const Values &at) {
    return made(op->getResult(0), [&](const Index &i) {
      Number sum = 0;
      for (mlir::Value arg : op.getArgs())
        sum += at(arg).at(i);
      return sum;
    });
  });
}

} // namespace lstmc::nets::plain
