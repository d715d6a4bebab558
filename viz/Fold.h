// Folds repeated parts of a network into one box each.
#pragma once

#include "viz/Diagram.h"

namespace lstmc::viz {

/// Replaces runs of equal parts (unrolled steps, layers, towers) by one box with a count, in order
/// of saved boxes, while a run has at least three parts and saves at least six boxes. Parts are
/// equal if their boxes are `like` one another, in the same order, and read corresponding values:
/// boxes of the part itself, of the previous part, or the same or similar boxes outside. Names are
/// ignored. Quadratic in boxes, with a small constant.
void foldRepeats(Diagram &diagram);

} // namespace lstmc::viz
