// What the rest of the compiler takes out of a graph. Public programs have no use for it.
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"

#include "frontend/symbol/Symbol.h"

namespace lstmc::symbol {

/// The module of a finished graph: one func.func, the net, with the attributes of
/// ir/sym/Attributes.h. The graph keeps the context and must outlive the module; its symbols are
/// void from here on.
mlir::OwningOpRef<mlir::ModuleOp> takeModule(Graph &graph);
mlir::MLIRContext &contextOf(Graph &graph);

} // namespace lstmc::symbol
