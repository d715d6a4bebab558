// opt: passes on IR text, spoken as mlir-opt is.

#include <vector>

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

#include "executor/base/OutputFile.h"
#include "frontend/cli/Commands.h"
#include "frontend/driver/CompilerMemory.h"
#include "ir/exec/Exec.h"
#include "ir/sym/SymDialect.h"
#include "passes/Passes.h"
#include "passes/Pipelines.h"

namespace lstmc::cli {

/// MlirOptMain takes care of the streams itself, and leaves with abort() where one fails.
static CommandResult transform(const std::string &input, const std::string &output,
                               mlir::DialectRegistry &registry, Console &console) {
  mlir::MlirOptMainConfig config = mlir::MlirOptMainConfig::createFromCLOptions();
  if (config.shouldShowDialects()) {
    std::string names;
    for (llvm::StringRef name : registry.getDialectNames())
      names += name.str() + "\n";
    console.write("Available Dialects:\n" + names);
    return ExitCode::Ok;
  }
  std::string message, text;
  std::unique_ptr<llvm::MemoryBuffer> file = mlir::openInputFile(input, &message);
  if (!file)
    return fail(ErrorCode::E0601, "{}", message);
  llvm::raw_string_ostream stream(text);
  bool done = mlir::succeeded(mlir::MlirOptMain(stream, std::move(file), registry, config));
  if (output == "-")
    console.write(text);
  else if (done)
    LSTMC_CHECKED_TRY(writeFile(output, text, OutputFile::Existing::Replace));
  return done ? ExitCode::Ok : ExitCode::Source;
}

CommandResult optCommand(const Options &options, Console &console) {
  mlir::DialectRegistry registry;
  registry.insert<mlir::func::FuncDialect, sym::SymDialect, exec::ExecDialect>();
  passes::registerLstmcPasses();
  passes::registerPipelines();
  mlir::registerCSEPass();
  mlir::registerCanonicalizerPass();

  std::vector<std::string> words = {"lstmc opt"};
  words.insert(words.end(), options.rest.begin(), options.rest.end());
  std::vector<char *> arguments;
  for (std::string &word : words)
    arguments.push_back(word.data());
  CompilerMemory memory;
  auto [input, output] = mlir::registerAndParseCLIOptions(
      int(arguments.size()), arguments.data(), "lstmc: passes on sym and exec\n", registry);
  CommandResult result = transform(input, output, registry, console);
  llvm::errs().clear_error(); // nobody reads it: no reason to fail
  return result;
}

} // namespace lstmc::cli
