// Where the element-wise ops of the records are finite, found by running them.
#pragma once

#include <string_view>

namespace lstmc::nets {

/// The range in which an operand of an element-wise op has to be for a finite result.
enum class Domain { Any, Unit /* 0.3 to 0.9 */, AboveOne /* 1.2 to 1.9 */, None };

/// The domain of an op that is element-wise on floats ("sym.log": Unit); Any for others. All ops
/// are run in one net, at the first call.
Domain domainOf(std::string_view opName);

} // namespace lstmc::nets
