// Any graph as a .lnet file.
#pragma once

#include <string>

#include "frontend/lnet/Load.h"
#include "frontend/symbol/Symbol.h"

namespace lstmc::lnet {

/// Text in fmt's style that loads to the same graph: ops, attributes, edges, names, roles,
/// initialisers, groups and order. Parameters are `Variable`s, layers the ops that they are made
/// of. Two things cannot be written and change: a net or input whose name is not an identifier gets
/// another name, and the role of an input follows from its name.
std::string emitLnet(const symbol::Graph &graph, const std::vector<symbol::Setting> &fit = {},
                     const std::vector<symbol::Setting> &data = {},
                     const std::vector<symbol::Setting> &place = {});

} // namespace lstmc::lnet
