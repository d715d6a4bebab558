// Values of three numbers in two bits each: how gradients travel that were compressed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "executor/package/MessageMemory.h"

namespace lstmc::ranks {

/// Bytes of so many packed values: t as f32, then four codes a byte, the first in the top bits: 00
/// is 0, 11 is t, 10 is -t, as MXNet has them.
using package::twoBitBytes;

/// Packs f32 values that are all 0, t or -t for one finite t > 0; false where they are not, at the
/// first that is not. `packed` has twoBitBytes() of their count.
bool packTwoBit(std::span<const std::byte> values, std::span<std::byte> packed);

/// The bits of what was packed. False, with nothing written, where there is a code 01, or a number
/// that is no t. `values` has as many bytes as were packed.
bool unpackTwoBit(std::span<const std::byte> packed, std::span<std::byte> values);

} // namespace lstmc::ranks
