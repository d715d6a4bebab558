// convert-dtype: converts all floats of the net to one type.

#include "mlir/IR/AttrTypeSubElements.h"

#include "executor/abi/DType.h"
#include "ir/sym/Diagnose.h"
#include "passes/Passes.h"

namespace lstmc::passes {

#define GEN_PASS_DEF_CONVERTDTYPE
#include "passes/Passes.h.inc"

namespace {

std::optional<DType> floatType(llvm::StringRef name) {
  std::optional<DType> dtype = parseDType({name.data(), name.size()});
  return dtype && isFloat(*dtype) ? dtype : std::nullopt;
}

struct ConvertDType : impl::ConvertDTypeBase<ConvertDType> {
  using ConvertDTypeBase::ConvertDTypeBase;

  void runOnOperation() override {
    std::optional<DType> wanted = floatType(dtype);
    if (wanted != DType::F32 && wanted != DType::F64) {
      sym::emitCoded(getOperation(), ErrorCode::E0001)
          << "convert-dtype takes float32 or float64, got \"" << dtype << "\"";
      return signalPassFailure();
    }
    convertTypes(*wanted);
    convertAttributes(*wanted);
  }

private:
  void convertTypes(DType wanted) {
    mlir::Builder builder(&getContext());
    mlir::Type element =
        wanted == DType::F64 ? mlir::Type(builder.getF64Type()) : builder.getF32Type();
    mlir::AttrTypeReplacer replacer;
    replacer.addReplacement([&](mlir::RankedTensorType type) -> std::optional<mlir::Type> {
      if (!llvm::isa<mlir::FloatType>(type.getElementType()))
        return std::nullopt;
      return type.clone(element);
    });
    replacer.recursivelyReplaceElementsIn(getOperation(), /*replaceAttrs=*/true,
                                          /*replaceLocs=*/false, /*replaceTypes=*/true);
  }

  /// The types that attributes name.
  void convertAttributes(DType wanted) {
    mlir::Builder builder(&getContext());
    getOperation().walk([&](mlir::Operation *op) {
      auto named = op->getAttrOfType<mlir::StringAttr>("dtype");
      if (named && floatType(named.getValue()))
        op->setAttr("dtype", builder.getStringAttr(std::string(dtypeLongName(wanted))));
    });
  }
};

} // namespace

} // namespace lstmc::passes
