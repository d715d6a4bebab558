#include "passes/FusedScalars.h"

#include "ir/sym/Create.h"
#include "ir/sym/SymOps.h"

namespace lstmc::passes {

using mlir::Value;

mlir::ValueRange fuse(mlir::OpBuilder &builder, mlir::Location loc, llvm::ArrayRef<Value> operands,
                      llvm::ArrayRef<mlir::Type> results,
                      llvm::function_ref<Scalars(sym::ScalarEmitter &, mlir::ValueRange)> write) {
  auto fused = builder.create<sym::FusedOp>(loc, results, operands);
  mlir::Block &body = fused.getBody().emplaceBlock();
  for (Value operand : operands)
    body.addArgument(sym::rankedType(operand).getElementType(), loc);
  mlir::OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(&body);
  sym::ScalarEmitter emitter(builder, loc);
  Scalars values = write(emitter, body.getArguments());
  builder.create<sym::YieldOp>(loc, values);
  return fused.getResults();
}

} // namespace lstmc::passes
