// What decides over the bits of a worker's updates, on whatever devices it has.
#pragma once

#include <string>

#include "executor/package/Package.h"

namespace lstmc::stores {

/// SHA-256 of the network, its settings, shapes, numerics and fit(..), with the compiler's version.
/// Devices, and how layers and rows are shared out to them, change no bit, so packages for other
/// devices have the same; but not under --fast, which gives that up.
std::string networkDigest(const package::Package &package);

} // namespace lstmc::stores
