// Places for the boxes of nets that are too long or too wide for one column.
#pragma once

#include <optional>
#include <vector>

#include "viz/Diagram.h"

namespace lstmc::viz {

/// Columns stand side by side; the even ones are read upwards, the odd ones downwards, so that what
/// goes from one to the next is near. Rows count from the bottom, in every column.
struct Place {
  size_t column, row;
  size_t index; ///< in its row of its column
};

/// Above the boxes of what it reads, one row each, of at most eight boxes; none for a net that is
/// neither long nor wide, and for one with frames.
std::optional<std::vector<Place>> wrap(const Diagram &diagram);

} // namespace lstmc::viz
