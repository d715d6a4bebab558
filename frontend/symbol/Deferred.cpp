// Graph::fillDeferred: initial values that a frontend makes once it knows the shapes.
#include "frontend/symbol/Impl.h"
#include "ir/sym/InitialRule.h"
#include "ir/sym/SymOps.h"

namespace lstmc::symbol {

static bool holdsDeferred(const Initialiser &init) {
  return init.name == "deferred" || llvm::any_of(init.initialisers, holdsDeferred);
}

bool Graph::fillDeferred(const Initialiser *fallback, const DeferredMaker &make) {
  const bool byFit = fallback && holdsDeferred(*fallback);
  const mlir::ArrayAttr rest = byFit ? impl_->initAttr(*fallback) : mlir::ArrayAttr();
  for (auto variable : impl_->body->getOps<sym::VariableOp>()) {
    mlir::ArrayAttr own = variable.getInitAttr();
    if (!own && !byFit)
      continue;
    mlir::FailureOr<mlir::ArrayAttr> rule =
        sym::initialRule(variable.getName(), own, rest, &impl_->context);
    if (failed(rule))
      continue; // the compiler says which name it was
    if (sym::nameOfRule(*rule) == "deferred") {
      auto number = sym::argumentsOfRule(*rule).getAs<mlir::IntegerAttr>("number");
      auto type = llvm::cast<mlir::RankedTensorType>(variable.getType());
      if (std::optional<Initialiser> made =
              make(number.getInt(), variable.getName(), type.getShape().vec()))
        variable.setInitAttr(impl_->initAttr(*made));
    } else if (!own) {
      variable.setInitAttr(*rule);
    }
  }
  return byFit;
}

} // namespace lstmc::symbol
