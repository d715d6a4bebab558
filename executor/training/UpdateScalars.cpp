#include "executor/training/UpdateScalars.h"

#include <cassert>
#include <cmath>

#include "executor/abi/Optimizers.h"
#include "executor/base/ScalarSemantics.h"

namespace lstmc::training {
namespace {

double power(double base, double exponent) {
  if (exponent != std::floor(exponent) || exponent < 0 || exponent > double(INT64_MAX / 2))
    return functionInF64(ScalarOp::Pow, base, exponent);
  double result = 1;
  for (auto left = int64_t(exponent); left > 0; left >>= 1, base *= base)
    if (left & 1)
      result *= base;
  return result;
}

/// The calculus (abi/Formula.h) of numbers.
struct Numbers {
  using Value = double;

  const OptimizerValues &keys;
  OptimizerValues &values;
  bool readsProduct = false;

  Value number(double number) { return number; }
  Value name(std::string_view name) {
    readsProduct |= name == "product";
    if (auto found = values.find(name); found != values.end())
      return found->second;
    auto key = keys.find(name);
    assert(key != keys.end() && "Optimizers.h has checked the names of its formulas");
    return key->second;
  }
  Value apply(ScalarOp op, std::span<const Value> x) {
    switch (op) {
    case ScalarOp::Pow:
      return power(x[0], x[1]);
    case ScalarOp::Select:
      return x[0] != 0 ? x[1] : x[2];
    default:
      return evaluate(op, x[0], x.size() > 1 ? x[1] : 0, x.size() > 2 ? x[2] : 0);
    }
  }
  void assign(std::string_view name, Value value) {
    values.insert_or_assign(std::string(name), value);
  }
};

} // namespace

std::vector<std::string> inputNames(const Optimizer &row) {
  std::vector<std::string> names;
  for (std::string_view input : row.inputs)
    if (!input.empty())
      names.push_back("optimizer." + std::string(input));
  return names;
}

UpdateFormula::UpdateFormula(const Optimizer &row, const OptimizerValues &values) : row_(row) {
  for (const OptimizerKey &key : row.keys) {
    auto given = values.find(key.name);
    keys_.emplace(key.name, given == values.end() ? key.fallback : given->second);
  }
  values_ = {{"lr", 0}, {"t", 1}, {"product", 1}};
  Numbers calculus{keys_, values_};
  readFormula(row_.perUpdate, calculus);
  keepsProduct_ = calculus.readsProduct;
}

void UpdateFormula::compute(double rate, int64_t t) {
  values_ = {{"lr", rate}, {"t", double(t)}, {"product", product_}};
  Numbers calculus{keys_, values_};
  readFormula(row_.perUpdate, calculus);
}

UpdateScalars UpdateFormula::at(double rate, int64_t t) {
  if (keepsProduct_ && t != last_ + 1) {
    product_ = 1;
    last_ = 0;
  }
  while (keepsProduct_ && last_ + 1 < t) {
    compute(rate, ++last_);
    product_ = values_.at("product");
  }
  compute(rate, t);
  product_ = values_.at("product");
  last_ = t;
  UpdateScalars scalars{values_.at("lr"), {}};
  for (std::string_view input : row_.inputs)
    if (!input.empty())
      scalars.inputs.emplace_back("optimizer." + std::string(input), values_.find(input)->second);
  return scalars;
}

} // namespace lstmc::training
