// Names of ops and operands in messages.
#pragma once

#include <string>

#include "mlir/IR/Operation.h"

#include "executor/base/Diagnostic.h"

namespace lstmc::sym {

/// "FullyConnected"; the name of the op itself if it is internal.
std::string labelOf(mlir::Operation *op);
/// "FullyConnected(num_hidden=65)": the op with its required attributes. For an op created by a
/// layer, the call of the layer ("LSTM(num_hidden=256)").
std::string callText(mlir::Operation *op);
/// "weight", "arg1", "output", "output2".
std::string roleOf(mlir::Operation *op, mlir::Value value, bool last = false);

/// The user's name of a value: the name of the input, parameter or state, or of the node that
/// computes it.
std::string userName(mlir::Value value);

/// The part of the source line that a range covers; empty if the line is not known or not plain
/// ASCII.
std::string coveredText(const SourceRange &range);
/// Whether the text is a name: ASCII letters, digits, `_`, and [i] or . in between.
bool isName(llvm::StringRef text);

} // namespace lstmc::sym
