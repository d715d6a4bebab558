// Levels: the instruction sets for which kernels are compiled. All give the same bits.
#pragma once

#include <cstdint>
#include <string_view>

namespace lstmc::cpu {

enum class Level : uint8_t { Scalar, Avx2, Avx512 };

inline constexpr int kLevels = 3;
inline constexpr std::string_view kLevelNames[] = {"scalar", "avx2", "avx512"};

/// The best level that this machine supports. The scalar level is compiled with fma; a machine
/// needs at least AVX2 and FMA.
Level machineLevel();

/// machineLevel(), or the level in the environment variable LSTMC_CPU_LEVEL (scalar, avx2, avx512)
/// if that is lower. Read once per process.
Level chosenLevel();

} // namespace lstmc::cpu
