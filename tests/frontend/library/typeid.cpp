// A library of the compiler's kind: whether it and MLIR's libraries mean the same by a trait, which
// MLIR tells by an address.
#include "mlir/IR/BuiltinDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"

extern "C" __attribute__((visibility("default"))) int lstmc_compiler_knows_traits() {
  mlir::MLIRContext context;
  context.loadDialect<mlir::BuiltinDialect>();
  mlir::OwningOpRef<mlir::ModuleOp> module =
      mlir::ModuleOp::create(mlir::UnknownLoc::get(&context));
  return (*module)->hasTrait<mlir::OpTrait::SymbolTable>() ? 1 : 0;
}
