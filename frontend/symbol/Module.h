// Takes the module out of a graph, for the rest of the compiler. Not part of the public API.
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"

#include "frontend/symbol/Symbol.h"

namespace lstmc::symbol {

/// The module of a finished graph: one func.func, the net, with the attributes of
/// ir/sym/Attributes.h. The graph keeps the context and must outlive the module; its symbols must
/// not be used any more.
mlir::OwningOpRef<mlir::ModuleOp> takeModule(Graph &graph);
mlir::MLIRContext &contextOf(Graph &graph);

} // namespace lstmc::symbol
