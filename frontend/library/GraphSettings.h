// What a program says of training by Graph::setFit and setData, checked as a file's fit(..) and
// data(..) are.
#pragma once

#include "frontend/symbol/Symbol.h"

namespace lstmc {

/// E0214 at the place of each setting that has no key of fit or data, or a value that cannot be.
/// What depends on the whole net (states to carry, metrics) is checked when it is compiled.
Diagnostics checkSettings(const symbol::Graph &graph);

} // namespace lstmc
