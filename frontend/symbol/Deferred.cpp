// Graph::fillDeferred: initial values that a frontend provides once the shapes are known.
#include "frontend/symbol/Impl.h"
#include "ir/sym/InitialRule.h"
#include "ir/sym/SymOps.h"

namespace lstmc::symbol {

static bool holdsDeferred(const Initialiser &init) {
  return init.name == "deferred" || llvm::any_of(init.initialisers, holdsDeferred);
}

namespace {

/// The rules that apply to one parameter, from its own initialiser and from that of fit.
class ParameterRule {
public:
  ParameterRule(Graph::Impl &impl, sym::VariableOp variable, mlir::ArrayAttr fit)
      : impl_(impl), variable_(variable), own_(variable.getInitAttr()), fit_(fit),
        rule_(find(own_, fit)) {
    // Weights by name take precedence over the rules for suffixes: a bias found there is not zero.
    if (own_ || !fit)
      return;
    mlir::FailureOr<mlir::ArrayAttr> whatever = find(fit, {});
    if (isDeferred(whatever) && sym::argumentsOfRule(*whatever).contains("by_name"))
      rule_ = whatever;
  }

  void fill(const Graph::DeferredMaker &make) {
    bool isMade = false;
    for (; isDeferred(rule_); isMade = true) {
      auto number = sym::argumentsOfRule(*rule_).getAs<mlir::IntegerAttr>("number");
      auto type = llvm::cast<mlir::RankedTensorType>(variable_.getType());
      std::optional<Initialiser> made =
          make(number.getInt(), variable_.getName(), type.getShape().vec());
      if (!made)
        return;
      // Explicit values apply to this parameter. Any other result is a rule, which may be deferred
      // again: the default of weights can be a function.
      const mlir::ArrayAttr init = impl_.initAttr(*made);
      rule_ = own_ || made->name == "values" ? find(init, fit_) : find({}, init);
    }
    if (succeeded(rule_) && (isMade || !own_)) // the compiler reports names that match no pattern
      variable_.setInitAttr(*rule_);
  }

private:
  mlir::FailureOr<mlir::ArrayAttr> find(mlir::ArrayAttr own, mlir::ArrayAttr fallback) {
    return sym::initialRule(variable_.getName(), own, fallback, &impl_.context);
  }
  static bool isDeferred(const mlir::FailureOr<mlir::ArrayAttr> &rule) {
    return succeeded(rule) && sym::nameOfRule(*rule) == "deferred";
  }

  Graph::Impl &impl_;
  sym::VariableOp variable_;
  mlir::ArrayAttr own_, fit_;
  mlir::FailureOr<mlir::ArrayAttr> rule_;
};

} // namespace

bool Graph::fillDeferred(const Initialiser *fallback, const DeferredMaker &make) {
  const bool byFit = fallback && holdsDeferred(*fallback);
  const mlir::ArrayAttr fit = byFit ? impl_->initAttr(*fallback) : mlir::ArrayAttr();
  for (auto variable : impl_->body->getOps<sym::VariableOp>())
    if (variable.getInitAttr() || byFit)
      ParameterRule(*impl_, variable, fit).fill(make);
  return byFit;
}

} // namespace lstmc::symbol
