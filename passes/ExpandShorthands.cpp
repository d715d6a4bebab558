// expand-shorthands: replaces shorthand ops by the ops that they stand for.

#include "ir/sym/Attributes.h"
#include "ir/sym/OpText.h"
#include "ir/sym/Shorthand.h"
#include "passes/Passes.h"

namespace lstmc::passes {

#define GEN_PASS_DEF_EXPANDSHORTHANDS
#include "passes/Passes.h.inc"

namespace {

/// Copies the discardable attributes of `op`, with the name of the function that the user called,
/// to the ops first .. op that replace it. The node's name goes to `last` alone, whose result it
/// names.
void inherit(mlir::Operation *op, mlir::Operation *first, mlir::Operation *last) {
  if (!op->hasAttr(sym::kCalledAttr))
    op->setAttr(sym::kCalledAttr, mlir::StringAttr::get(op->getContext(), sym::labelOf(op)));
  for (mlir::Operation *made = first; made != op; made = made->getNextNode())
    for (mlir::NamedAttribute attribute : op->getDiscardableAttrs())
      if (made == last || attribute.getName() != sym::kNameAttr)
        made->setDiscardableAttr(attribute.getName(), attribute.getValue());
}

/// Replaces one op. Its replacement may contain shorthands, which are added to `later`.
void expand(sym::ShorthandRule rule, llvm::SmallVectorImpl<sym::ShorthandRule> &later) {
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

struct ExpandShorthands : impl::ExpandShorthandsBase<ExpandShorthands> {
  void runOnOperation() override {
    llvm::SmallVector<sym::ShorthandRule> rules;
    getOperation().walk([&](sym::ShorthandRule rule) { rules.push_back(rule); });
    while (!rules.empty())
      expand(rules.pop_back_val(), rules);
  }
};

} // namespace

} // namespace lstmc::passes
