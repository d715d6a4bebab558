// Ops that only place their operands side by side: concat, stack.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "ir/sym/KernelBuilder.h"

namespace lstmc::passes {

/// Operands and their windows in the result.
using Parts = std::vector<std::pair<mlir::Value, sym::View>>;

/// The op's parts, if its launches only copy whole operands into windows of its result; else
/// nullopt.
std::optional<Parts> partsOf(mlir::Operation *op);

/// Whether a single launch writes a result of a non-element-wise op.
bool madeAtOnce(mlir::Value value);

} // namespace lstmc::passes
