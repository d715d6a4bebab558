// Names in a package that compiler and runtime both know, apart from the entries that a net has.
#pragma once

#include <string_view>

namespace lstmc {

/// "prepare:forward" packs the weights that "forward" reads.
inline constexpr std::string_view kPreparePrefix = "prepare:";

/// The program of the compiler's plan that computes the initial values of parameters. In a package,
/// its launches are stored with the parameters.
inline constexpr std::string_view kInitialiseProgram = "initialise";

} // namespace lstmc
