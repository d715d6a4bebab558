// How ops and their operands are called in messages.
#pragma once

#include <string>

#include "mlir/IR/Operation.h"

#include "executor/base/Diagnostic.h"

namespace lstmc::sym {

/// "FullyConnected"; the op's own name for internal ones.
std::string labelOf(mlir::Operation *op);
/// "FullyConnected(num_hidden=65)": with the attributes that a call has to give. Where a layer was
/// called ("LSTM(num_hidden=256)"), that.
std::string callText(mlir::Operation *op);
/// "weight", "arg1", "output", "output2".
std::string roleOf(mlir::Operation *op, mlir::Value value);

/// The name that users know a value by: of the input, parameter or state, or of the node that makes
/// it.
std::string userName(mlir::Value value);

/// The piece of the source line that a range covers; empty where the line is not known, or is more
/// than plain ASCII.
std::string coveredText(const SourceRange &range);
/// ASCII letters, digits, _ and [i], .: what names a value.
bool isName(llvm::StringRef text);

} // namespace lstmc::sym
