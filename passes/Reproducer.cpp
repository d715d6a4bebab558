#include "passes/Reproducer.h"

#include <filesystem>

#include "mlir/IR/AsmState.h"

#include "executor/base/Hash.h"
#include "executor/base/OutputFile.h"
#include "executor/package/Package.h"
#include "passes/PackageFacts.h"
#include "passes/Pipelines.h"

namespace lstmc::passes {

namespace {

/// MLIR's own form, which --run-reproducer takes: the pipeline stands in the file as a resource.
std::string reproducerText(mlir::PassManager &manager, mlir::ModuleOp module) {
  std::string pipeline, text = "// lstmc opt --run-reproducer FILE\n";
  llvm::raw_string_ostream pipelineStream(pipeline), stream(text);
  manager.printAsTextualPipeline(pipelineStream);
  // The generic form, because custom printers may be what fails; with locations, because messages
  // refer to them.
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

/// The file's name; nullopt if neither folder is writable.
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

Reason reproducer(mlir::PassManager &manager, mlir::ModuleOp before) {
  std::optional<std::string> path = write(reproducerText(manager, before));
  return {path ? "saved: lstmc opt --run-reproducer " + *path
               : "no reproducer: no folder could be written",
          {}};
}

/// The number after `word[` in a field's path.
std::optional<size_t> indexOf(llvm::StringRef path, llvm::StringRef word) {
  size_t at = path.find((word + "[").str()), number = 0;
  if (at == llvm::StringRef::npos)
    return std::nullopt;
  llvm::StringRef rest = path.drop_front(at + word.size() + 1);
  return rest.consumeInteger(10, number) ? std::nullopt : std::optional(number);
}

/// The launch that a path names, or the first launch of the fused program that it names.
const package::Launch *launchOf(llvm::StringRef path, const package::PackageData &data) {
  auto entry = indexOf(path, "entries"), program = indexOf(path, "programs"),
       launch = indexOf(path, "launches");
  if (entry && program && launch)
    return &data.entries[*entry].programs[*program].launches[*launch];
  for (const package::Entry &each : data.entries)
    for (const package::DeviceProgram &device : each.programs)
      for (const package::Launch &one : device.launches)
        if (!entry && program && one.kernel == KernelId::Fused &&
            argumentsOf<FusedArguments>(one.ints).program == int64_t(*program))
          return &one;
  return nullptr;
}

} // namespace

Diagnostic explainRefusal(const Error &error, const package::PackageData &data,
                          mlir::ModuleOp before, const CompileOptions &options) {
  Diagnostic diagnostic;
  diagnostic.code = ErrorCode::E0099;
  diagnostic.message = "the package just compiled is refused, a fault of the compiler";
  llvm::StringRef path = llvm::StringRef(error.message).split(": ").first;
  if (const package::Launch *launch = launchOf(path, data))
    diagnostic.place = package::rangeOf(data.locations[launch->location]);
  diagnostic.reasons.push_back({error.text(), {}});
  auto manager = mlir::PassManager::on<mlir::ModuleOp>(before.getContext());
  buildPipeline(manager, options);
  recordPackageFacts(before, options);
  diagnostic.reasons.push_back(reproducer(manager, before));
  return diagnostic;
}

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
  internal->reasons.push_back(reproducer(manager, *before));
  return mlir::failure();
}

} // namespace lstmc::passes
