// A call of an op, its arguments matched with the op's record.
#pragma once

#include "frontend/symbol/Impl.h"

namespace lstmc::symbol {

/// One input of the op: given, to be made (parameter, label), or absent.
struct BoundInput {
  const sym::InputRecord *record; ///< null for an input of an op that takes any number of them
  mlir::Value value;
  bool make = false;
};

/// A call that fits the record of its op.
struct BoundCall {
  const sym::OpRecord *record = nullptr;
  std::vector<BoundInput> inputs;
  llvm::SmallVector<mlir::NamedAttribute> attributes;
};

/// Checks names, kinds and numbers: E0201 to E0205, each at the argument's place.
Checked<BoundCall> bind(Graph &graph, const Call &call);

} // namespace lstmc::symbol
