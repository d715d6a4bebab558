// lower-to-package: converts the plan to package data, by PackageBuilder.

#include "executor/base/OutputFile.h"
#include "executor/base/Sha256.h"
#include "ir/sym/Diagnose.h"
#include "passes/OperandSlices.h"
#include "passes/PackageBuilder.h"
#include "passes/PackageFacts.h"
#include "passes/Passes.h"

namespace lstmc::passes {

#define GEN_PASS_DEF_LOWERTOPACKAGE
#include "passes/Passes.h.inc"

namespace {

struct LowerToPackage : impl::LowerToPackageBase<LowerToPackage> {
  using LowerToPackageBase::LowerToPackageBase;
  explicit LowerToPackage(package::PackageData *into) : into(into) {}

  void runOnOperation() override {
    auto plans = llvm::to_vector(getOperation().getOps<exec::PlanOp>());
    if (plans.size() != 1 || !plans.front().getArenaBytes()) {
      getOperation().emitError("lower-to-package needs one exec.plan with its memory planned");
      return signalPassFailure();
    }
    takeSourceLines(getOperation());
    package::PackageData data = buildPackage(plans.front());
    takePackageFacts(getOperation(), data);
    getOperation().walk([](exec::LaunchOp launch) { launch->removeAttr(kInstructionsAttr); });
    if (into) {
      *into = std::move(data);
      return;
    }
    package::Bytes bytes = package::serialize(data);
    if (!file.empty())
      if (Status written =
              writeFile(file, {reinterpret_cast<const char *>(bytes.data()), bytes.size()},
                        OutputFile::Existing::Keep);
          !written.ok()) {
        sym::emitCoded(getOperation(), written.error().code) << written.error().message;
        return signalPassFailure();
      }
    mlir::Builder builder(&getContext());
    plans.front()->setAttr("package_bytes", builder.getI64IntegerAttr(int64_t(bytes.size())));
    plans.front()->setAttr("package_sha256", builder.getStringAttr(sha256(bytes)));
  }

  package::PackageData *into = nullptr;
};

} // namespace

std::unique_ptr<mlir::Pass> createLowerToPackageInto(package::PackageData &into) {
  return std::make_unique<LowerToPackage>(&into);
}

} // namespace lstmc::passes
