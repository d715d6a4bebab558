// Instruction sets for which kernels are compiled; all give the same bits.
#pragma once

#include <cstdint>
#include <string_view>

namespace lstmc::cpu {

enum class Level : uint8_t { Scalar, Avx2, Avx512 };

inline constexpr int kLevels = 3;
inline constexpr std::string_view kLevelNames[] = {"scalar", "avx2", "avx512"};

/// The best level this machine carries out. Scalar is compiled with fma, so AVX2 and FMA are the
/// least a machine must have.
Level machineLevel();

/// machineLevel(), or what the environment variable LSTMC_CPU_LEVEL names (scalar, avx2, avx512) if
/// that is less. Read once per process.
Level chosenLevel();

} // namespace lstmc::cpu
