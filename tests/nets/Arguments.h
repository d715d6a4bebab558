// Draws arguments for a call of any op from its record. The op's own rule accepts or rejects them.
#pragma once

#include "ir/sym/OpTable.h"
#include "tests/nets/Pool.h"

namespace lstmc::nets {

/// A call of the op with inputs from the pool. Rules refuse most calls, so the caller tries
/// several. Makes the parameters and inputs that are missing.
symbol::Call drawCall(Pool &pool, const sym::OpRecord &op);

/// Whether the op has this input with these attributes.
bool hasInput(const sym::OpRecord &op, const sym::InputRecord &input,
              const std::vector<symbol::NamedAttribute> &attributes);

} // namespace lstmc::nets
