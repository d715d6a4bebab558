// Which rules of exact numerics a package gives up: --fast RULE, recorded in its `numerics`
// (docs/numerics.md, "What --fast gives up").
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "executor/abi/DType.h"

namespace lstmc {

/// What a GPU rounds the operands of f32 products to, for its tensor cores, or the library that
/// carries out products (CublasLt) or recurrent layers (Cudnn). Devices that have none compute as
/// without a rule.
enum class FastRule : uint8_t { None, Tf32, Bf16, Fp16, CublasLt, Cudnn };
inline constexpr std::string_view kFastRuleNames[] = {"none", "tf32",     "bf16",
                                                      "fp16", "cublaslt", "cudnn"};
inline constexpr int kFastRuleCount = 6;

constexpr bool usesTensorCores(FastRule rule) {
  return rule == FastRule::Tf32 || rule == FastRule::Bf16 || rule == FastRule::Fp16;
}

/// Whether products are those of no rule.
constexpr bool hasExactProducts(FastRule rule) {
  return rule == FastRule::None || rule == FastRule::Cudnn;
}

/// "cpu-f32"; with a rule "cpu-f32+bf16".
inline std::string numericsText(DType type, FastRule rule) {
  std::string text = "cpu-" + std::string(dtypeName(type));
  if (rule != FastRule::None)
    text.append("+").append(kFastRuleNames[int(rule)]);
  return text;
}

/// The rule of such a text; nothing if it names one that there is not.
constexpr std::optional<FastRule> fastRuleOf(std::string_view numerics) {
  const size_t plus = numerics.find('+');
  if (plus == std::string_view::npos)
    return FastRule::None;
  for (int i = 1; i < kFastRuleCount; ++i)
    if (numerics.substr(plus + 1) == kFastRuleNames[i])
      return FastRule(i);
  return std::nullopt;
}

} // namespace lstmc
