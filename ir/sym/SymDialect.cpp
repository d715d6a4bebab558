#include "ir/sym/SymDialect.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"

#include "ir/sym/ImportedOps.h"
#include "ir/sym/LoopOps.h"
#include "ir/sym/Shorthand.h"
#include "ir/sym/SymOps.h"
#include "ir/sym/ValueUse.h"
#include "ir/sym/WrittenOps.h"

using namespace mlir;

#include "ir/sym/SymDialect.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "ir/sym/SymTypes.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "ir/sym/SymAttributes.cpp.inc"

#include "ir/sym/SymInterfaces.cpp.inc"
#include "ir/sym/WrittenInterfaces.cpp.inc"

#define GET_OP_CLASSES
#include "ir/sym/WrittenOps.cpp.inc"
#define GET_OP_CLASSES
#include "ir/sym/LoopOps.cpp.inc"

#define GET_OP_CLASSES
#include "ir/sym/ImportedOps.cpp.inc"

namespace lstmc::sym {

void SymDialect::initialize() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "ir/sym/SymTypes.cpp.inc"
      >();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "ir/sym/SymAttributes.cpp.inc"
      >();
  addElementwiseOps();
  addScalarFormOps();
  addShapeOps();
  addIndexOps();
  addProductOps();
  addReduceOps();
  addSequenceOps();
  addLossOps();
  addRecurrentOps();
  addSourceOps();
  addComposedOps();
  addConvolutionOps();
  addOperations<
#define GET_OP_LIST
#include "ir/sym/WrittenOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "ir/sym/LoopOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "ir/sym/ImportedOps.cpp.inc"
      >();
  addSortOps();
  addRandomOps();
  addFusedOps();
  addTrainingOps();
  addTransferOps();
  attachValueUse(*getContext());
  attachShorthands(*getContext());
}

bool isTensor(Type type) {
  auto tensor = dyn_cast<TensorType>(type);
  return tensor && (isa<OpenType>(tensor.getElementType()) || dtypeOf(tensor.getElementType()));
}

bool isOneOf(Attribute attribute, StringRef words) {
  auto word = dyn_cast<StringAttr>(attribute);
  return word && llvm::is_contained(llvm::split(words, '|'), word.getValue());
}

bool isEntries(Attribute attribute) {
  auto array = dyn_cast<ArrayAttr>(attribute);
  return array && llvm::all_of(array, [](Attribute entry) {
           auto number = dyn_cast<IntegerAttr>(entry);
           return isa<UnitAttr>(entry) || (number && number.getType().isSignlessInteger(64));
         });
}

Type elementType(MLIRContext *context, DType dtype) {
  switch (dtype) {
  case DType::F32:
    return Float32Type::get(context);
  case DType::F64:
    return Float64Type::get(context);
  case DType::F16:
    return Float16Type::get(context);
  case DType::BF16:
    return BFloat16Type::get(context);
  case DType::I8:
    return IntegerType::get(context, 8);
  case DType::U8:
    return IntegerType::get(context, 8, IntegerType::Unsigned);
  case DType::I32:
    return IntegerType::get(context, 32);
  case DType::I64:
    return IntegerType::get(context, 64);
  case DType::Bool:
    return IntegerType::get(context, 1);
  }
  llvm_unreachable("every DType has a type");
}

Type elementType(MLIRContext *context, StringRef name) {
  return elementType(context, *parseDType(name));
}

std::optional<DType> dtypeOf(Type type) {
  if (type.isF32())
    return DType::F32;
  if (type.isF64())
    return DType::F64;
  if (type.isF16())
    return DType::F16;
  if (type.isBF16())
    return DType::BF16;
  if (type.isUnsignedInteger(8))
    return DType::U8;
  if (type.isSignlessInteger(8))
    return DType::I8;
  if (type.isSignlessInteger(32))
    return DType::I32;
  if (type.isSignlessInteger(64))
    return DType::I64;
  if (type.isSignlessInteger(1))
    return DType::Bool;
  return std::nullopt;
}

Type computeType(Type type) {
  if (type.isF16() || type.isBF16())
    return Float32Type::get(type.getContext());
  if (type.isInteger(8))
    return IntegerType::get(type.getContext(), 32);
  return type;
}

} // namespace lstmc::sym
