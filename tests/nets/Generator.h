// Random nets, valid by construction: the rule of its op has accepted every call.
#pragma once

#include <cstdint>
#include <string>

namespace lstmc::nets {

/// The text of net `seed`, with its training settings: `.lnet` that loads.
std::string generate(uint64_t seed);

} // namespace lstmc::nets
