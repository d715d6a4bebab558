// Finds values that are out of range for an input.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "executor/base/Tensor.h"
#include "executor/base/ValueRange.h"

namespace lstmc::data {

/// The number of the first of `count` dense elements that is not in `range`, if any.
std::optional<int64_t> firstOutside(const void *elements, DType dtype, int64_t count,
                                    const ValueRange &range);

/// ", at [3, 7]" for element `number` of an array with several axes; empty for one axis.
std::string placeText(std::span<const int64_t> shape, int64_t element);

} // namespace lstmc::data
