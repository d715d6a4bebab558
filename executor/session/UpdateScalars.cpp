#include "executor/session/UpdateScalars.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <utility>

#include <fmt/ranges.h>

#include "executor/base/ParseNumber.h"
#include "executor/base/Quote.h"
#include "executor/base/ScalarSemantics.h"

namespace lstmc::session {
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

} // namespace

struct UpdateFormula::Numbers {
  using Value = double;

  UpdateFormula &formula;

  Value number(double number) { return number; }
  Value name(std::string_view name) {
    formula.readsProduct_ |= name == "product";
    formula.readsUpdate_ |= name == "t" || name == "product";
    return formula.value(name);
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
    for (size_t i = 0; i < formula.count_; ++i)
      if (formula.values_[i].name == name) {
        formula.values_[i].value = value;
        return;
      }
    formula.values_.at(formula.count_++) = {name, value};
  }
};

double UpdateFormula::value(std::string_view name) const {
  for (size_t i = 0; i < count_; ++i)
    if (values_[i].name == name)
      return values_[i].value;
  const OptimizerKey *key = row_->key(name);
  assert(key && "Optimizers.h has checked the names of its formulas");
  return keys_[size_t(key - row_->keys)];
}

UpdateFormula::UpdateFormula(const Optimizer &row, const OptimizerValues &values) : row_(&row) {
  for (size_t i = 0; i < kMostKeys; ++i) {
    auto given = values.find(row.keys[i].name);
    keys_[i] = given == values.end() ? row.keys[i].fallback : given->second;
  }
  compute(0, 1); // finds what it reads
}

Result<UpdateFormula> UpdateFormula::of(const std::vector<package::Setting> &fit) {
  auto last = [&](std::string_view name) -> const std::string * {
    auto found = std::find_if(fit.rbegin(), fit.rend(),
                              [&](const package::Setting &each) { return each.name == name; });
    return found == fit.rend() ? nullptr : &found->value;
  };
  const std::string *name = last("optimizer");
  const Optimizer *row = findOptimizer(name ? std::string_view(*name) : "sgd");
  if (!row)
    return fail(ErrorCode::E0001, "fit key optimizer: found {}, want one of {}", inQuotes(*name),
                fmt::join(optimizerNames(), ", "));
  OptimizerValues values;
  for (const OptimizerKey &key : row->keys)
    if (const std::string *text = key.name.empty() ? nullptr : last(key.name)) {
      LSTMC_ASSIGN(values[std::string(key.name)], parseOptimizerKey(key, *text));
    }
  return UpdateFormula(*row, values);
}

void UpdateFormula::compute(double rate, int64_t t) {
  count_ = 0;
  Numbers calculus{*this};
  calculus.assign("lr", rate);
  calculus.assign("t", double(t));
  calculus.assign("product", product_);
  readFormula(row_->perUpdate, calculus);
}

UpdateScalars UpdateFormula::at(double rate, int64_t t) {
  if (readsProduct_) {
    if (t == last_) {
      product_ = before_;
    } else if (t != last_ + 1) {
      product_ = 1;
      for (int64_t each = 1; each < t; ++each) {
        compute(rate, each);
        if (std::exchange(product_, value("product")) == value("product"))
          break; // it has come to the least number, which no later factor changes
      }
    }
  }
  compute(rate, t);
  before_ = product_;
  product_ = value("product");
  last_ = t;
  UpdateScalars scalars{value("lr"), {}};
  for (size_t i = 0; i < kMostInputs; ++i)
    if (!row_->inputs[i].empty())
      scalars.inputs[i] = value(row_->inputs[i]);
  return scalars;
}

Result<double> parseOptimizerKey(const OptimizerKey &key, std::string_view text) {
  if (text == "None")
    return key.fallback;
  const std::optional<double> parsed = parseFinite(text);
  double number = parsed.value_or(0);
  bool found = parsed.has_value();
  if (key.yesNo && (text == "True" || text == "yes" || text == "False" || text == "no")) {
    number = text == "True" || text == "yes" ? 1 : 0;
    found = true;
  }
  if (found && key.takes(number))
    return number;
  return fail(
      ErrorCode::E0001, "fit key {}: found {}, want {}", key.name, inQuotes(text),
      key.yesNo
          ? "True or False"
          : fmt::format("a number from {}{}", key.least,
                        std::isfinite(key.below) ? fmt::format(" to below {}", key.below) : ""));
}

std::vector<std::string_view> optimizerNames() {
  std::vector<std::string_view> names;
  for (const Optimizer &row : kOptimizers)
    names.push_back(row.name);
  return names;
}

} // namespace lstmc::session
