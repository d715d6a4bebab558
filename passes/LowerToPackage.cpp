// lower-to-package: converts the plan to package data, by PackageBuilder.

#include "executor/base/Sha256.h"
#include "passes/PackageBuilder.h"
#include "passes/Passes.h"

namespace lstmc::passes {

#define GEN_PASS_DEF_LOWERTOPACKAGE
#include "passes/Passes.h.inc"

namespace {

struct LowerToPackage : impl::LowerToPackageBase<LowerToPackage> {
  LowerToPackage() = default;
  explicit LowerToPackage(package::PackageData *into) : into(into) {}

  void runOnOperation() override {
    auto plans = llvm::to_vector(getOperation().getOps<exec::PlanOp>());
    if (plans.size() != 1 || !plans.front().getArenaBytes()) {
      getOperation().emitError("lower-to-package needs one exec.plan with its memory planned");
      return signalPassFailure();
    }
    package::PackageData data = buildPackage(plans.front());
    if (into) {
      *into = std::move(data);
      return;
    }
    package::Bytes bytes = package::serialize(data);
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
