// The exec dialect; the records are in ExecOps.td.
#pragma once

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "executor/abi/Kernels.h"
#include "ir/exec/OperandView.h"

#include "ir/exec/ExecDialect.h.inc"
#include "ir/exec/ExecEnums.h.inc"

#define GET_OP_CLASSES
#include "ir/exec/ExecOps.h.inc"
