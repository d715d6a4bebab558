#include "passes/lowering/Parts.h"

#include "ir/exec/Exec.h"
#include "ir/sym/SymOps.h"

namespace lstmc::passes {

using mlir::Value;
using sym::View;

namespace {

mlir::RankedTensorType tensorType(Value value) {
  return llvm::cast<mlir::RankedTensorType>(value.getType());
}

/// Records the launches of an op without emitting them.
class PartsProbe : public sym::KernelBuilder {
public:
  explicit PartsProbe(Value result) : result(result) {}

  Parts windows;
  bool sideBySide = true;
  int launches = 0; ///< launches that touch the result, or unknown memory

private:
  View view(Value value) override {
    View view;
    view.value = value;
    view.shape.assign(tensorType(value).getShape().begin(), tensorType(value).getShape().end());
    view.strides = exec::denseStrides(view.shape);
    view.dtype = exec::dtypeOf(tensorType(value).getElementType());
    return view;
  }
  void launch(KernelId kernel, llvm::ArrayRef<View> operands, llvm::ArrayRef<int64_t>,
              llvm::ArrayRef<double>) override {
    launches += llvm::any_of(operands, [&](const View &view) { return view.value == result; });
    if (kernel != KernelId::Copy) { // which may have fewer operands
      sideBySide = false;
      return;
    }
    sideBySide &=
        operands[1].value == result && operands[0].value != result && operands[0].dense() &&
        operands[0].elements() == tensorType(operands[0].value).getNumElements() &&
        llvm::ArrayRef<int64_t>(operands[0].shape) == tensorType(operands[0].value).getShape() &&
        llvm::none_of(windows,
                      [&](const auto &window) { return window.first == operands[0].value; });
    windows.push_back({operands[0].value, operands[1]});
  }
  View temporary(llvm::ArrayRef<int64_t>, DType) override { return other(); }
  View scratch(int64_t) override { return other(); }
  View denseCopy(View view) override { return dense(view, view.shape); }
  View output(View target, llvm::ArrayRef<int64_t> shape) override { return dense(target, shape); }
  View packed(View weight, int64_t) override { return sideBySide = false, weight; }
  void alias(Value, View) override { sideBySide = false; }
  View other() { return sideBySide = false, view(result); }
  /// A placeholder for the memory of a value: only the identity of the value matters.
  View dense(const View &of, llvm::ArrayRef<int64_t> shape) {
    sideBySide = false;
    const llvm::SmallVector<int64_t, 6> extents(shape);
    return {of.value, of.offset, extents, exec::denseStrides(extents), of.dtype};
  }

  Value result;
};

} // namespace

std::optional<Parts> partsOf(mlir::Operation *op) {
  if (op->getNumResults() != 1 || op->getNumOperands() < 2)
    return std::nullopt;
  int64_t elements = 0;
  for (Value operand : op->getOperands())
    elements += tensorType(operand).getNumElements();
  if (elements != tensorType(op->getResult(0)).getNumElements())
    return std::nullopt;
  PartsProbe probe(op->getResult(0));
  if (failed(llvm::cast<sym::KernelRule>(op).emitKernels(probe)) || !probe.sideBySide ||
      probe.windows.size() != op->getNumOperands())
    return std::nullopt;
  return probe.windows;
}

bool madeAtOnce(Value value) {
  auto rule = value.getDefiningOp<sym::KernelRule>();
  PartsProbe probe(value);
  return rule && succeeded(rule.emitKernels(probe)) && probe.launches <= 1;
}

} // namespace lstmc::passes
