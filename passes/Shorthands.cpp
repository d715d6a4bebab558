#include "passes/Shorthands.h"

#include "ir/sym/Attributes.h"
#include "ir/sym/Shorthand.h"

namespace lstmc::passes {

/// What hangs on the op hangs on all that stand in its place; the name on the one whose result it
/// names.
static void inherit(mlir::Operation *op, mlir::Operation *first, mlir::Operation *last) {
  for (mlir::Operation *made = first; made != op; made = made->getNextNode())
    for (mlir::NamedAttribute attribute : op->getDiscardableAttrs())
      if (made == last || attribute.getName() != sym::kNameAttr)
        made->setDiscardableAttr(attribute.getName(), attribute.getValue());
}

void writeOutShorthands(mlir::ModuleOp module) {
  llvm::SmallVector<sym::ShorthandRule> rules;
  module.walk([&](sym::ShorthandRule rule) { rules.push_back(rule); });
  for (sym::ShorthandRule rule : rules) {
    mlir::Operation *op = rule, *before = op->getPrevNode();
    mlir::OpBuilder builder(op);
    mlir::Value value = rule.writtenOut(builder);
    if (!value)
      continue;
    inherit(op, before ? before->getNextNode() : &op->getBlock()->front(), value.getDefiningOp());
    op->getResult(0).replaceAllUsesWith(value);
    op->erase();
  }
}

} // namespace lstmc::passes
