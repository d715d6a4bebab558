// Element types, as used by packages, kernels and the compiler.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace lstmc {

// LSTMC_DTYPE(enumerator, name in .lnet and on the command line, long name, bytes). Values are in
// packages: append only.
#define LSTMC_DTYPES(X)                                                                            \
  X(F32, "f32", "float32", 4)                                                                      \
  X(F64, "f64", "float64", 8)                                                                      \
  X(F16, "f16", "float16", 2)                                                                      \
  X(BF16, "bf16", "bfloat16", 2)                                                                   \
  X(I8, "i8", "int8", 1)                                                                           \
  X(U8, "u8", "uint8", 1)                                                                          \
  X(I32, "i32", "int32", 4)                                                                        \
  X(I64, "i64", "int64", 8)                                                                        \
  X(Bool, "bool", "bool", 1)

enum class DType : uint8_t {
#define LSTMC_X(E, S, L, B) E,
  LSTMC_DTYPES(LSTMC_X)
#undef LSTMC_X
};

inline constexpr int kDTypeCount = 9;

constexpr size_t dtypeBytes(DType type) {
  constexpr size_t kBytes[] = {
#define LSTMC_X(E, S, L, B) B,
      LSTMC_DTYPES(LSTMC_X)
#undef LSTMC_X
  };
  return kBytes[static_cast<int>(type)];
}

/// For example "f32".
constexpr std::string_view dtypeName(DType type) {
  constexpr std::string_view kNames[] = {
#define LSTMC_X(E, S, L, B) S,
      LSTMC_DTYPES(LSTMC_X)
#undef LSTMC_X
  };
  return kNames[static_cast<int>(type)];
}

/// For example "float32", used in messages and in type annotations of .lnet.
constexpr std::string_view dtypeLongName(DType type) {
  constexpr std::string_view kNames[] = {
#define LSTMC_X(E, S, L, B) L,
      LSTMC_DTYPES(LSTMC_X)
#undef LSTMC_X
  };
  return kNames[static_cast<int>(type)];
}

/// Finds a type by either name.
constexpr std::optional<DType> parseDType(std::string_view name) {
  for (int i = 0; i < kDTypeCount; ++i)
    if (name == dtypeName(DType(i)) || name == dtypeLongName(DType(i)))
      return DType(i);
  return std::nullopt;
}

constexpr bool isFloat(DType type) { return type <= DType::BF16; }

} // namespace lstmc
