// Axes that a reduction removes.
#pragma once

#include <cstdint>
#include <optional>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

namespace lstmc::sym {

/// The reduced axes: those named (with `exclude`: the others); all if none is named.
llvm::SmallVector<int64_t> reducedAxes(int64_t rank, std::optional<llvm::ArrayRef<int64_t>> axes,
                                       bool exclude);

} // namespace lstmc::sym
