// Which build this is.
#pragma once

#include <string>

namespace lstmc::driver {

/// "lstmc 0.1.0 (1f3c9a2)"
std::string versionLine();
/// Besides: CPU level, libraries and their versions.
std::string versionDetails();

} // namespace lstmc::driver
