#include "tests/nets/plain/Interpreter.h"

#include <cfloat>
#include <cmath>
#include <stdexcept>

#include "ir/sym/Attributes.h"
#include "tests/nets/plain/Rules.h"

namespace lstmc::nets::plain {

const Array &Values::operator()(mlir::Value value) const {
  auto found = arrays_.find(value);
  if (found == arrays_.end())
    throw std::runtime_error("an op reads an input that the entry does not have");
  return found->second;
}

const Rules &allRules() {
  static const Rules all = [] {
    Rules rules;
    for (auto add : {addElementwise, addMoves, addIndices, addSorts, addReductions, addProducts,
                     addRecurrences, addSources, addHeads, addWindows, addImported, addWritten})
      add(rules);
    return rules;
  }();
  return all;
}

namespace {

/// The number that an element of this type holds.
Number kept(Number number, DType dtype) {
  auto wrapped = [&](auto type) { return Number(decltype(type)(int64_t(number))); };
  switch (dtype) {
  case DType::I8:
    return wrapped(int8_t());
  case DType::U8:
    return wrapped(uint8_t());
  case DType::I32:
    return wrapped(int32_t());
  case DType::I64:
    return wrapped(int64_t());
  case DType::Bool:
    return number != 0;
  default:
    break;
  }
  const double rounded = double(number);
  return std::fabs(rounded) < DBL_MIN ? std::copysign(0.0, rounded)
                                      : rounded; // denormals count as 0
}

class Walk {
public:
  Walk(const Given &given, const Noise &noise) : given_(given), noise_(noise), values_(noise) {
    noise_.seed += 1; // other numbers than within the ops
  }

  Outcome run(mlir::func::FuncOp net) {
    for (unsigned i = 0; i < net.getNumArguments(); ++i)
      if (const Array *value =
              find(net.getArgAttrOfType<mlir::StringAttr>(i, sym::kNameAttr).str()))
        values_.set(net.getArgument(i), disturbed(*value));
    for (mlir::Operation &op : net.front().without_terminator())
      compute(op);
    Outcome outcome;
    for (mlir::Value output : net.front().getTerminator()->getOperands())
      outcome.outputs.push_back(values_(output));
    outcome.states = std::move(states_);
    return outcome;
  }

private:
  const Array *find(const std::string &name) const {
    auto found = given_.find(name);
    return found == given_.end() ? nullptr : &found->second;
  }

  void compute(mlir::Operation &op) {
    if (auto variable = llvm::dyn_cast<sym::VariableOp>(op)) {
      if (const Array *value = find(variable.getName().str()))
        values_.set(variable, disturbed(*value));
      return;
    }
    if (auto state = llvm::dyn_cast<sym::BeginStateOp>(op)) {
      const Array *value = find(state.getName().str());
      values_.set(state, value ? disturbed(*value) : zerosFor(state));
      return;
    }
    const Rule &rule = allRules().at(op.getName().getStringRef());
    Results results = rule.results(&op, values_);
    for (auto [result, array] : llvm::zip_equal(op.getResults(), results)) {
      for (Number &number : array.x)
        number = kept(number, array.dtype);
      values_.set(result, rule.exact ? std::move(array) : disturbed(std::move(array)));
    }
    if (auto rnn = llvm::dyn_cast<sym::RnnOp>(op))
      keepStates(rnn);
  }

  void keepStates(sym::RnnOp rnn) {
    mlir::Value begins[] = {rnn.getState(), rnn.getStateCell()};
    for (unsigned i = 0; i < 2 && i + 1 < rnn->getNumResults(); ++i)
      if (auto state = begins[i] ? begins[i].getDefiningOp<sym::BeginStateOp>() : nullptr)
        states_[state.getName().str()] = values_(rnn->getResult(i + 1));
  }

  Array disturbed(Array array) {
    if (noise_.size == 0 || array.dtype != DType::F64)
      return array;
    for (Number &x : array.x)
      if (std::isfinite(x) && x != std::trunc(x))
        x *= 1 + Number(noise_.next());
    return array;
  }

  const Given &given_;
  Noise noise_;
  Values values_;
  Given states_;
};

mlir::func::FuncOp netOf(mlir::ModuleOp module) {
  return *module.getOps<mlir::func::FuncOp>().begin();
}

} // namespace

Outcome interpret(mlir::ModuleOp module, const Given &given, const Noise &noise) {
  return Walk(given, noise).run(netOf(module));
}

std::string withoutRule(mlir::ModuleOp module) {
  for (mlir::Operation &op : netOf(module).front().without_terminator())
    if (!llvm::isa<sym::VariableOp, sym::BeginStateOp>(op) &&
        !allRules().contains(op.getName().getStringRef()))
      return op.getName().getStringRef().str();
  return {};
}

} // namespace lstmc::nets::plain
