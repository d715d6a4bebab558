// Only `lstmc opt`, for the tests of dialects and passes: it links neither frontends nor the rest
// of the command.
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"

#include "ir/exec/Exec.h"
#include "ir/sym/SymDialect.h"
#include "passes/Passes.h"
#include "passes/Pipelines.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  registry.insert<mlir::func::FuncDialect, lstmc::sym::SymDialect, lstmc::exec::ExecDialect>();
  lstmc::passes::registerLstmcPasses();
  lstmc::passes::registerPipelines();
  mlir::registerCSEPass();
  mlir::registerCanonicalizerPass();
  return mlir::failed(mlir::MlirOptMain(argc, argv, "lstmc opt, for tests\n", registry));
}
