#include "passes/Shorthands.h"

#include "ir/sym/Attributes.h"
#include "ir/sym/OpText.h"
#include "ir/sym/Shorthand.h"

namespace lstmc::passes {

/// Copies attributes of the replaced op to all its replacements, with the user's name of the op;
/// its node name to the op that computes the result.
static void inherit(mlir::Operation *op, mlir::Operation *first, mlir::Operation *last) {
  if (!op->hasAttr(sym::kCalledAttr))
    op->setAttr(sym::kCalledAttr, mlir::StringAttr::get(op->getContext(), sym::labelOf(op)));
  for (mlir::Operation *made = first; made != op; made = made->getNextNode())
    for (mlir::NamedAttribute attribute : op->getDiscardableAttrs())
      if (made == last || attribute.getName() != sym::kNameAttr)
        made->setDiscardableAttr(attribute.getName(), attribute.getValue());
}

/// Expands one op. The replacement may contain shorthands itself.
static void writeOut(sym::ShorthandRule rule, llvm::SmallVectorImpl<sym::ShorthandRule> &later) {
  mlir::Operation *op = rule, *before = op->getPrevNode();
  mlir::OpBuilder builder(op);
  const llvm::SmallVector<mlir::Value> values = rule.writtenOutAll(builder);
  if (values.empty())
    return;
  mlir::Operation *first = before ? before->getNextNode() : &op->getBlock()->front();
  inherit(op, first, values.front().getDefiningOp());
  for (mlir::Operation *made = first; made != op; made = made->getNextNode())
    if (auto shorthand = llvm::dyn_cast<sym::ShorthandRule>(made))
      later.push_back(shorthand);
  op->replaceAllUsesWith(values);
  op->erase();
}

void writeOutShorthands(mlir::ModuleOp module) {
  llvm::SmallVector<sym::ShorthandRule> rules;
  module.walk([&](sym::ShorthandRule rule) { rules.push_back(rule); });
  while (!rules.empty())
    writeOut(rules.pop_back_val(), rules);
}

} // namespace lstmc::passes
