// Parts of a network that repeat, as one box each.
#pragma once

#include "viz/Diagram.h"

namespace lstmc::viz {

/// Folds runs of equal parts (steps of a loop written by hand, layers, towers) into one box that
/// says how often, from the most boxes saved to the fewest, until no run of three parts or more
/// saves six boxes. Parts are equal when their boxes are `like` one another, in the same order, and
/// read the same: one another's boxes alike, the part before, or things outside that are equal or
/// alike. Names have no say. Quadratic in boxes, in a loop of a few instructions.
void foldRepeats(Diagram &diagram);

} // namespace lstmc::viz
