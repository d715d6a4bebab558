// Where the element-wise ops of the records are finite, found by trying them.
#pragma once

#include <string_view>

namespace lstmc::nets {

/// What an operand has to lie in for an element-wise op to give a finite number.
enum class Domain { Any, Unit /* 0.3 to 0.9 */, AboveOne /* 1.2 to 1.9 */, None };

/// Of an op that is element-wise on floats ("sym.log": Unit); Any for others. All ops are tried, in
/// one net, at the first call.
Domain domainOf(std::string_view opName);

} // namespace lstmc::nets
