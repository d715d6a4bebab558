// Streams of a device's program.
#pragma once

#include <cstddef>
#include <cstdint>

namespace lstmc {

/// A program's launches are on streams 0 to kMaxStreams - 1.
inline constexpr uint32_t kMaxStreams = 8;
/// Operands of all launches of a program of several streams: what the check of their order may take
/// in memory does not grow beyond that. A larger program has one stream.
inline constexpr size_t kMaxStreamedOperands = size_t(1) << 18;

} // namespace lstmc
