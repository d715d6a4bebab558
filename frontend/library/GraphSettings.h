// Checks of the training settings of Graph::setFit and setData, as for fit(..) and data(..) of a
// file.
#pragma once

#include "frontend/symbol/Symbol.h"

namespace lstmc {

/// E0214 at each setting with an unknown key or an invalid value. Settings that depend on the whole
/// net (states to carry, metrics) are checked when it is compiled.
Diagnostics checkSettings(const symbol::Graph &graph);

} // namespace lstmc
