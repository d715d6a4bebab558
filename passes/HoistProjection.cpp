// hoist-projection: chooses for how many steps a recurrent layer projects its inputs in one
// product.

#include "backends/registry/Targets.h"
#include "ir/sym/Create.h"
#include "ir/sym/SymOps.h"
#include "passes/Passes.h"
#include "passes/Replica.h"

namespace lstmc::passes {

#define GEN_PASS_DEF_HOISTPROJECTION
#include "passes/Passes.h.inc"

namespace {

struct HoistProjection : impl::HoistProjectionBase<HoistProjection> {
  using HoistProjectionBase::HoistProjectionBase;

  void runOnOperation() override {
    for (auto entry : getOperation().getOps<mlir::func::FuncOp>()) {
      const target::Target &target = targetFor(entry);
      entry.walk([&](mlir::Operation *op) {
        if (auto layer = llvm::dyn_cast<sym::RnnLayerOp>(op))
          choose(target, layer, layer.getX(), sym::rankedType(layer.getW()).getDimSize(0),
                 bool(layer.getGates()));
        else if (auto gradient = llvm::dyn_cast<sym::RnnLayerGradientOp>(op))
          choose(target, gradient, gradient.getGates(),
                 sym::rankedType(gradient.getW()).getDimSize(0), true);
      });
    }
  }

  /// The target of the device that runs the function.
  const target::Target &targetFor(mlir::func::FuncOp entry) const {
    auto device = size_t(deviceOf(entry));
    return device < devices.size() ? targetOf(std::string_view(devices[device]))
                                   : targetOf(DeviceKind::Cpu);
  }

  /// `sequence` is [T, B, ...]; a step's projection has `width` numbers per row.
  template <typename Op>
  void choose(const target::Target &target, Op op, mlir::Value sequence, int64_t width,
              bool keepsGates) {
    mlir::RankedTensorType type = sym::rankedType(sequence);
    auto bytes = int64_t(dtypeBytes(*sym::dtypeOf(type.getElementType())));
    const target::Projection all = {.steps = type.getDimSize(0),
                                    .batch = type.getDimSize(1),
                                    .width = width,
                                    .elementBytes = bytes,
                                    .maxBytes = maxBytes,
                                    .keepsGates = keepsGates};
    int64_t chunk = target.projectionSteps(all);
    if (chunk > 1)
      op.setChunk(chunk);
  }
};

} // namespace
} // namespace lstmc::passes
