// Ops that only set their operands side by side: concat, stack.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "ir/sym/KernelBuilder.h"

namespace lstmc::passes {

/// Operands, and where in the result they go.
using Parts = std::vector<std::pair<mlir::Value, sym::View>>;

/// If all that the op's launches do is to copy its operands, whole, into windows of its result.
std::optional<Parts> partsOf(mlir::Operation *op);

/// Whether one launch alone writes a result of an op that is not element-wise.
bool madeAtOnce(mlir::Value value);

} // namespace lstmc::passes
