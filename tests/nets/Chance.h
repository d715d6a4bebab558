// Nets without random numbers, for judges that compare values.
#pragma once

#include "frontend/symbol/View.h"

namespace lstmc::nets {

/// Sets the attributes with which the op draws none. sample_multinomial has no such attributes.
void switchOffChance(symbol::NodeView &node);

} // namespace lstmc::nets
