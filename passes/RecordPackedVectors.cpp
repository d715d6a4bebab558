// record-packed-vectors: records the parameters in each vector packed for RNN.

#include "llvm/ADT/StringSet.h"

#include "ir/sym/Attributes.h"
#include "ir/sym/SymOps.h"
#include "passes/Passes.h"

namespace lstmc::passes {

#define GEN_PASS_DEF_RECORDPACKEDVECTORS
#include "passes/Passes.h.inc"

namespace {

/// [name, part...] of a concatenation; null if a part is no parameter.
mlir::ArrayAttr packedVector(sym::RnnParamConcatOp concat, mlir::StringAttr name) {
  llvm::SmallVector<mlir::Attribute> row = {name};
  for (mlir::Value argument : concat.getArgs()) {
    mlir::Operation *producer = argument.getDefiningOp();
    while (producer && llvm::isa<sym::ReshapeOp, sym::FlattenOp>(producer))
      producer = producer->getOperand(0).getDefiningOp();
    auto variable = llvm::dyn_cast_or_null<sym::VariableOp>(producer);
    if (!variable)
      return nullptr;
    row.push_back(mlir::StringAttr::get(concat.getContext(), variable.getName()));
  }
  return mlir::ArrayAttr::get(concat.getContext(), row);
}

struct RecordPackedVectors : impl::RecordPackedVectorsBase<RecordPackedVectors> {
  void runOnOperation() override {
    llvm::SmallVector<mlir::Attribute> vectors;
    llvm::StringSet<> names; // layers of one name share their parameters, and one vector
    getOperation().walk([&](sym::RnnParamConcatOp concat) {
      auto name = concat->getAttrOfType<mlir::StringAttr>(sym::kNameAttr);
      if (!name || name.empty())
        return;
      if (mlir::ArrayAttr row = packedVector(concat, name); row && names.insert(name).second)
        vectors.push_back(row);
    });
    if (!vectors.empty())
      getOperation()->setAttr(sym::kPackedAttr, mlir::ArrayAttr::get(&getContext(), vectors));
  }
};

} // namespace

} // namespace lstmc::passes
