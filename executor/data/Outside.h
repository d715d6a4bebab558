// Values that an input has no place for.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "executor/base/Tensor.h"
#include "executor/base/ValueRange.h"

namespace lstmc::data {

/// The number of the first of so many dense elements that `range` does not hold, if any.
std::optional<int64_t> firstOutside(const void *elements, DType dtype, int64_t count,
                                    const ValueRange &range);

/// ", at [3, 7]" for an element of an array with several axes, by its number; empty for one axis.
std::string placeText(std::span<const int64_t> shape, int64_t element);

} // namespace lstmc::data
