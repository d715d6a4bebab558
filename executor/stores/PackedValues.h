// Values that were compressed, on their way from a worker to a server.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace lstmc::stores {

/// Arrays of these sizes in bytes, one after the other, each after a byte: 1 where its elements of
/// 4 bytes are all 0, t or -t and are packed (ranks/TwoBit.h), 0 where it is as it is.
std::vector<std::byte> packValues(std::span<const std::byte> values,
                                  std::span<const uint64_t> sizes);

/// False where that is not what was packed. `values` has the bytes of all sizes.
bool unpackValues(std::span<const std::byte> packed, std::span<const uint64_t> sizes,
                  std::span<std::byte> values);

} // namespace lstmc::stores
