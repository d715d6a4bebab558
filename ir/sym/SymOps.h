// The ops of the sym dialect and their interfaces.
#pragma once

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "executor/abi/Packing.h"
#include "executor/abi/ScalarOps.h"
#include "ir/sym/BatchPosition.h"
#include "ir/sym/HeadMeasure.h"
#include "ir/sym/SymDialect.h"
#include "ir/sym/Traits.h"

namespace lstmc::sym {

class GradientBuilder;
class KernelBuilder;
class ShapeRelation;

/// Flops estimate: one operation per element of the results.
int64_t defaultFlops(mlir::Operation *op);
/// Bytes of all operands and results; a tensor that is used twice counts once.
int64_t defaultMovedBytes(mlir::Operation *op);
/// Checks that the shards of an op exist and have rows.
llvm::LogicalResult verifyShardSum(mlir::Operation *op, const ShardRange &range);

} // namespace lstmc::sym

#include "ir/sym/Shorthand.h.inc"
#include "ir/sym/SymInterfaces.h.inc"

#define GET_OP_CLASSES
#include "ir/sym/ElementwiseOps.h.inc"
#define GET_OP_CLASSES
#include "ir/sym/ScalarFormOps.h.inc"
#define GET_OP_CLASSES
#include "ir/sym/ShapeOps.h.inc"
#define GET_OP_CLASSES
#include "ir/sym/IndexOps.h.inc"
#define GET_OP_CLASSES
#include "ir/sym/ProductOps.h.inc"
#define GET_OP_CLASSES
#include "ir/sym/ReduceOps.h.inc"
#define GET_OP_CLASSES
#include "ir/sym/SequenceOps.h.inc"
#define GET_OP_CLASSES
#include "ir/sym/LossOps.h.inc"
#define GET_OP_CLASSES
#include "ir/sym/RecurrentOps.h.inc"
#define GET_OP_CLASSES
#include "ir/sym/SourceOps.h.inc"
#define GET_OP_CLASSES
#include "ir/sym/ComposedOps.h.inc"
#define GET_OP_CLASSES
#include "ir/sym/ConvolutionOps.h.inc"
#define GET_OP_CLASSES
#include "ir/sym/RandomOps.h.inc"
#define GET_OP_CLASSES
#include "ir/sym/SortOps.h.inc"
#define GET_OP_CLASSES
#include "ir/sym/FusedOps.h.inc"
#define GET_OP_CLASSES
#include "ir/sym/TrainingOps.h.inc"
#define GET_OP_CLASSES
#include "ir/sym/TransferOps.h.inc"
