// The dialect of the deferred graph: its types and attributes.
#pragma once

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"

#include "executor/abi/DType.h"
#include "ir/sym/SourceText.h"

namespace lstmc::sym {

/// A ranked or unranked tensor whose elements are of a DType, or open.
bool isTensor(mlir::Type type);
/// The string is one of `words`, a list separated by '|'.
bool isOneOf(mlir::Attribute attribute, llvm::StringRef words);
/// An array of 64-bit integers and units.
bool isEntries(mlir::Attribute attribute);

/// f32, f64, f16, bf16, i8, ui8, i32, i64, i1.
mlir::Type elementType(mlir::MLIRContext *context, DType dtype);
/// The element type for a long or short name of a DType ("float32", as attributes write it).
mlir::Type elementType(mlir::MLIRContext *context, llvm::StringRef name);
/// Nothing for an open type or one that is no DType.
std::optional<DType> dtypeOf(mlir::Type elementType);
/// The type to which a tile is widened: f32 for f16 and bf16, i32 for i8 and ui8, else the type
/// itself.
mlir::Type computeType(mlir::Type elementType);

} // namespace lstmc::sym

#include "ir/sym/SymDialect.h.inc"

#define GET_TYPEDEF_CLASSES
#include "ir/sym/SymTypes.h.inc"

#define GET_ATTRDEF_CLASSES
#include "ir/sym/SymAttributes.h.inc"
