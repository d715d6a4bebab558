// opt: passes on IR text, spoken as mlir-opt is.

#include <vector>

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"

#include "frontend/cli/Commands.h"
#include "ir/exec/Exec.h"
#include "ir/sym/SymDialect.h"
#include "passes/Passes.h"

namespace lstmc::cli {

int optCommand(const Options &options, Console &) {
  mlir::DialectRegistry registry;
  registry.insert<mlir::func::FuncDialect, sym::SymDialect, exec::ExecDialect>();
  passes::registerLstmcPasses();
  mlir::registerCSEPass();
  mlir::registerCanonicalizerPass();

  std::vector<std::string> words = {"lstmc opt"};
  words.insert(words.end(), options.rest.begin(), options.rest.end());
  std::vector<char *> arguments;
  for (std::string &word : words)
    arguments.push_back(word.data());
  bool done = mlir::succeeded(mlir::MlirOptMain(int(arguments.size()), arguments.data(),
                                                "lstmc: passes on sym and exec\n", registry));
  return done ? 0 : int(ExitCode::Source);
}

} // namespace lstmc::cli
