// The nodes of a symbol.json as calls of the Symbol API.
#pragma once

#include "frontend/importers/mxnet/SymbolFile.h"
#include "frontend/symbol/Network.h"

namespace lstmc::importers::mxnet {

/// Makes the network. Ops, inputs and attributes are known by their records alone.
///
/// A variable is an input if the request gives it a shape or offers a value, if its name ends with
/// "data" or "label", or if an op reads it as its label; all others are parameters. The N of the
/// request's layout, else of `__layout__`, is the batch axis of an input; without them,
/// symbol::batchAxes() finds it. `batch` of
/// the request's settings is its extent.
/// `__ctx_group__`, `__force_mirroring__`, `__lr_mult__`, `__wd_mult__` (also `weight_lr_mult` of
/// an op), `__shape__`, `__dtype__` and `__init__` have their meaning, other names like `__x__`
/// have none.
///
/// Errors, at the line of the node's name: E0201 for an op that there is not, with what it reads
/// and the three nearest names; E0605 for an attribute that is not of its kind and an output that a
/// node does not have; E0211 for an input without a shape; those of symbol::Graph. E0001 for a
/// request that names what the file does not have. Warnings: fields that are not known.
/// Initialisers that are not known are listed by the network.
Checked<symbol::Network> readGraph(const SymbolFile &file, const symbol::NetworkRequest &request,
                                   const Limits &limits);

} // namespace lstmc::importers::mxnet
