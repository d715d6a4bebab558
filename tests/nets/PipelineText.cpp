#include "tests/nets/PipelineText.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"

#include "executor/base/Sha256.h"
#include "ir/exec/Exec.h"
#include "ir/sym/SymDialect.h"
#include "passes/Passes.h"
#include "passes/Pipelines.h"

namespace lstmc::nets {

namespace {

/// The hash that lower-to-package leaves on the plan, or what went wrong.
std::string hashOf(const std::string &source, const std::string &pipeline) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  context.loadDialect<mlir::func::FuncDialect, sym::SymDialect, exec::ExecDialect>();
  std::string errors;
  mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &diagnostic) {
    errors += diagnostic.str() + "\n";
    return mlir::success();
  });
  auto module = mlir::parseSourceString<mlir::ModuleOp>(source, &context);
  if (!module)
    return "the module's text is not read: " + errors;
  mlir::FailureOr<mlir::OpPassManager> manager = mlir::parsePassPipeline(pipeline);
  if (failed(manager))
    return "the pipeline's text is not read: " + pipeline;
  mlir::PassManager all(&context, mlir::ModuleOp::getOperationName());
  static_cast<mlir::OpPassManager &>(all) = *manager;
  if (failed(all.run(*module)))
    return "the passes fail: " + errors;
  for (exec::PlanOp plan : module->getOps<exec::PlanOp>())
    if (auto hash = plan->getAttrOfType<mlir::StringAttr>("package_sha256"))
      return hash.str();
  return "there is no package";
}

} // namespace

std::string judgePipelineText(const passes::Compiled &compiled) {
  static const bool registered = [] {
    passes::registerLstmcPasses();
    passes::registerPipelines();
    return true;
  }();
  (void)registered;
  const std::string wanted = sha256(package::serialize(compiled.package));
  for (const std::string *pipeline : {&compiled.pipeline, &compiled.passes})
    if (std::string found = hashOf(compiled.sourceText, *pipeline); found != wanted)
      return fmt::format("{}\nis what comes of {}", found, *pipeline);
  return "";
}

} // namespace lstmc::nets
