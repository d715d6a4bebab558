#include "passes/Reproducer.h"

#include <filesystem>

#include "mlir/IR/AsmState.h"

#include "executor/base/Hash.h"
#include "executor/base/OutputFile.h"

namespace lstmc::passes {

namespace {

/// MLIR's own form, which --run-reproducer takes: the pipeline stands in the file as a resource.
std::string reproducerText(mlir::PassManager &manager, mlir::ModuleOp module) {
  std::string pipeline, text = "// lstmc opt --run-reproducer FILE\n";
  llvm::raw_string_ostream pipelineStream(pipeline), stream(text);
  manager.printAsTextualPipeline(pipelineStream);
  // The generic form, since ops may be what fails, and with places, since messages are about them.
  mlir::OpPrintingFlags flags;
  flags.printGenericOpForm().enableDebugInfo();
  mlir::AsmState state(module, flags);
  state.attachResourcePrinter("mlir_reproducer",
                              [&](mlir::Operation *, mlir::AsmResourceBuilder &builder) {
                                builder.buildString("pipeline", pipeline);
                                builder.buildBool("disable_threading", true);
                                builder.buildBool("verify_each", true);
                              });
  module->print(stream, state);
  stream << "\n";
  return text;
}

/// The file's name; none where neither folder takes it.
std::optional<std::string> write(const std::string &text) {
  std::string name =
      fmt::format("lstmc-reproducer-{:016x}.mlir", hashBytes(text.data(), text.size()));
  std::error_code error;
  for (const std::string &path :
       {name, (std::filesystem::temp_directory_path(error) / name).string()}) {
    Status status = writeFile(path, text, OutputFile::Existing::Keep);
    if (status.ok() || status.error().code == ErrorCode::E0608) // of that name is only that text
      return path;
  }
  return std::nullopt;
}

} // namespace

mlir::LogicalResult runOrReproduce(mlir::PassManager &manager, mlir::ModuleOp module,
                                   Diagnostics &diagnostics) {
  mlir::OwningOpRef<mlir::ModuleOp> before = module.clone();
  if (succeeded(manager.run(module)))
    return mlir::success();
  auto isError = [](const Diagnostic &diagnostic) {
    return diagnostic.severity == Severity::Error;
  };
  if (llvm::none_of(diagnostics, isError)) {
    Diagnostic &silent = diagnostics.emplace_back();
    silent.code = ErrorCode::E0099;
    silent.message = "a pass failed without saying why";
  }
  auto internal = llvm::find_if(
      diagnostics, [&](const Diagnostic &d) { return isError(d) && d.code == ErrorCode::E0099; });
  if (internal == diagnostics.end())
    return mlir::failure();
  std::optional<std::string> path = write(reproducerText(manager, *before));
  internal->reasons.push_back({path ? "saved: lstmc opt --run-reproducer " + *path
                                    : "no reproducer: no folder could be written",
                               {}});
  return mlir::failure();
}

} // namespace lstmc::passes
