// Constructors, options and registration of the passes; the records are in Passes.td.
#pragma once

#include <memory>
#include <string>

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

#include "ir/exec/Exec.h"
#include "ir/sym/SymDialect.h"
#include "passes/Real.h"

namespace lstmc::passes {

#define GEN_PASS_DECL
#include "passes/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "passes/Passes.h.inc"

} // namespace lstmc::passes
