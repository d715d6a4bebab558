// merge-equal-ops: eliminates common subexpressions.

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Pass/Pass.h"

#include "ir/sym/Attributes.h"
#include "ir/sym/SymOps.h"
#include "passes/Backward.h"
#include "passes/EntryMarks.h"
#include "passes/Passes.h"

namespace lstmc::passes {

#define GEN_PASS_DEF_MERGEEQUALOPS
#include "passes/Passes.h.inc"

namespace {

using mlir::Operation;

/// Whether an attribute only names an op or its origin. All other attributes affect where and when
/// the op runs, or which elements of the whole batch it computes.
bool isName(llvm::StringRef attribute) {
  return attribute == sym::kNameAttr || attribute == sym::kOrdinalAttr ||
         attribute == sym::kGroupAttr || attribute == sym::kDimsAttr ||
         attribute == sym::kCalledAttr;
}

bool runTogether(Operation *a, Operation *b) {
  auto covers = [](Operation *op, Operation *other) {
    return llvm::all_of(op->getDiscardableAttrs(), [&](mlir::NamedAttribute attribute) {
      return isName(attribute.getName()) ||
             other->getDiscardableAttr(attribute.getName()) == attribute.getValue();
    });
  };
  return covers(a, b) && covers(b, a);
}

struct Equal : llvm::DenseMapInfo<Operation *> {
  static unsigned getHashValue(Operation *op) {
    return unsigned(llvm::hash_combine(
        op->getName(), op->hashProperties(),
        llvm::hash_combine_range(op->operand_begin(), op->operand_end()),
        llvm::hash_combine_range(op->result_type_begin(), op->result_type_end())));
  }
  static bool isEqual(Operation *a, Operation *b) {
    auto isKey = [](Operation *op) { return op == getEmptyKey() || op == getTombstoneKey(); };
    if (a == b || isKey(a) || isKey(b))
      return a == b;
    return a->getName() == b->getName() && a->getOperands() == b->getOperands() &&
           a->getResultTypes() == b->getResultTypes() &&
           a->getName().compareOpProperties(a->getPropertiesStorage(), b->getPropertiesStorage()) &&
           runTogether(a, b);
  }
};

bool canMerge(Operation *op) {
  return op->getNumResults() > 0 && op->getNumRegions() == 0 && mlir::isPure(op) &&
         !op->hasAttr(sym::kRecomputeAttr) && !op->hasAttr(sym::kHeadAttr);
}

struct MergeEqualOps : impl::MergeEqualOpsBase<MergeEqualOps> {
  void runOnOperation() override {
    getOperation().walk([&](mlir::func::FuncOp entry) {
      llvm::DenseSet<Operation *, Equal> known; // looked up, never iterated
      for (Operation &op : llvm::make_early_inc_range(entry.front().without_terminator()))
        if (canMerge(&op))
          if (auto [first, isNew] = known.insert(&op); !isNew) {
            op.replaceAllUsesWith(*first);
            op.erase();
          }
    });
  }
};

} // namespace
} // namespace lstmc::passes
