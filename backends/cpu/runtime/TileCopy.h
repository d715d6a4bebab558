// Converts between elements as stored and as used in arithmetic: widening, rounding, any stride.
#pragma once

#include <cstdint>

#include "executor/abi/DType.h"

namespace lstmc::cpu {

/// Reads `count` elements, `stride` elements apart, into a tile of widenedType(stored).
using ReadRow = void (*)(void *tile, const void *stored, int64_t stride, int64_t count);
/// Writes `count` elements of a tile, in which they are `step` (0 or 1) apart.
using WriteRow = void (*)(void *stored, int64_t stride, const void *tile, int64_t step,
                          int64_t count);

ReadRow readRow(DType stored);
WriteRow writeRow(DType stored);

/// Element `offset` as an index: a float is truncated towards 0.
using ReadIndex = int64_t (*)(const void *stored, int64_t offset);
ReadIndex readIndex(DType stored);

/// Element `offset` as f64.
using ReadNumber = double (*)(const void *stored, int64_t offset);
ReadNumber readNumber(DType stored);

/// `value` truncated to an index.
int64_t toIndex(double value);

/// Writes `value`, rounded, as one element.
void writeConstant(DType type, double value, void *element);

} // namespace lstmc::cpu
