// Positions of boxes, for nets that are too long or too wide for one column.
#pragma once

#include <optional>
#include <vector>

#include "viz/Diagram.h"

namespace lstmc::viz {

/// Columns stand side by side; even ones are read upwards, odd ones downwards, so that the end of
/// one is near the start of the next. Rows count from the bottom in every column.
struct Place {
  size_t column, row;
  size_t index; ///< position in the row
};

/// Places each box above the boxes that it reads; a row has at most eight boxes. Nullopt for a net
/// that is neither long nor wide, and for one with frames.
std::optional<std::vector<Place>> wrap(const Diagram &diagram);

} // namespace lstmc::viz
