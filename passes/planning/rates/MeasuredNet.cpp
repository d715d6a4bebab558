#include "passes/planning/rates/MeasuredNet.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"

#include "backends/registry/Devices.h"
#include "executor/package/Plan.h"
#include "ir/exec/Exec.h"
#include "ir/sym/SymDialect.h"

namespace lstmc::planning {

Result<package::Package::Pointer> compileText(const std::string &text,
                                              const passes::CompileOptions &options) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  context.loadDialect<mlir::func::FuncDialect, sym::SymDialect, exec::ExecDialect>();
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  if (!module)
    return fail(ErrorCode::E0099, "calibration: its net does not parse");
  Checked<passes::Compiled> compiled = passes::compile(*module, options);
  if (!compiled.ok())
    return fail(ErrorCode::E0001, "calibration: {}", compiled.diagnostics().front().message);
  return package::Package::open(package::serialize(compiled->package), "calibration");
}

Result<std::unique_ptr<Session>> openSession(const package::Package::Pointer &package,
                                             int threads) {
  LSTMC_ASSIGN(auto devices,
               makeDevices(package::deviceList(package->data()), {.threads = threads}));
  LSTMC_ASSIGN(std::unique_ptr<Session> session, Session::create(package, std::move(devices)));
  LSTMC_TRY(session->initialise(0));
  return session;
}

} // namespace lstmc::planning
