// Random nets, valid by construction: every call was taken by the rule of its op.
#pragma once

#include <cstdint>
#include <string>

namespace lstmc::nets {

/// The text of net `seed`, with how it is trained: `.lnet` that loads.
std::string generate(uint64_t seed);

} // namespace lstmc::nets
