// Names in a package that both halves know, besides those of entries that a net makes.
#pragma once

#include <string_view>

namespace lstmc {

/// "prepare:forward" packs the weights that "forward" reads.
inline constexpr std::string_view kPreparePrefix = "prepare:";

/// The program of the compiler's plan that gives parameters their first values; a package has its
/// launches with the parameters.
inline constexpr std::string_view kInitialiseProgram = "initialise";

} // namespace lstmc
