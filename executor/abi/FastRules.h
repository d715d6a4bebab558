// Which rules of exact numerics a package gives up: --fast RULE,.., recorded in its `numerics`
// (docs/numerics.md, "What --fast gives up").
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>

#include "executor/abi/DType.h"

namespace lstmc {

/// What a GPU rounds the operands of f32 products to, for its tensor cores.
enum class RoundedTo : uint8_t { F32, Tf32, Bf16, Fp16 };

/// The rules by name, in the order in which they are recorded. The first kRoundings are those of
/// RoundedTo beyond F32.
inline constexpr std::string_view kFastRuleNames[] = {"tf32", "bf16", "fp16", "cublaslt", "cudnn"};
inline constexpr size_t kRoundings = 3;

/// A set of rules. A device computes as without those that it cannot follow.
struct FastRules {
  RoundedTo roundedTo = RoundedTo::F32;
  bool cublasLt = false; ///< products are carried out by cuBLASLt
  bool cudnn = false;    ///< recurrent layers without a stash are carried out by cuDNN, in f32

  constexpr bool usesTensorCores() const { return roundedTo != RoundedTo::F32; }
  /// Whether products are those of no rule.
  constexpr bool hasExactProducts() const { return !usesTensorCores() && !cublasLt; }
  /// Whether recurrent layers of our own are carried out in 16 bits.
  constexpr bool roundsLayers() const {
    return roundedTo == RoundedTo::Bf16 || roundedTo == RoundedTo::Fp16;
  }

  /// Of a rule by its place in kFastRuleNames.
  constexpr bool has(size_t rule) const {
    return rule < kRoundings    ? size_t(roundedTo) == rule + 1
           : rule == kRoundings ? cublasLt
                                : cudnn;
  }
  constexpr void add(size_t rule) {
    if (rule < kRoundings)
      roundedTo = RoundedTo(rule + 1);
    else
      (rule == kRoundings ? cublasLt : cudnn) = true;
  }

  bool operator==(const FastRules &) const = default;
};

/// "bf16+cublaslt"; "" without a rule.
inline std::string rulesText(FastRules rules) {
  std::string text;
  for (size_t rule = 0; rule < std::size(kFastRuleNames); ++rule)
    if (rules.has(rule))
      text.append(text.empty() ? "" : "+").append(kFastRuleNames[rule]);
  return text;
}

/// "cpu-f32"; with rules "cpu-f32+bf16+cublaslt".
inline std::string numericsText(DType type, FastRules rules) {
  const std::string text = rulesText(rules);
  return "cpu-" + std::string(dtypeName(type)) + (text.empty() ? "" : "+") + text;
}

/// The rules of such a text. Nothing if it names one that there is not, one twice, two types to
/// round to, or rules in another order than that of kFastRuleNames.
constexpr std::optional<FastRules> fastRulesOf(std::string_view numerics) {
  FastRules rules;
  size_t next = 0; // of the rules that may still follow
  for (size_t plus = numerics.find('+'); plus != std::string_view::npos;) {
    numerics.remove_prefix(plus + 1);
    plus = numerics.find('+');
    const std::string_view name = numerics.substr(0, plus);
    while (next < std::size(kFastRuleNames) && kFastRuleNames[next] != name)
      ++next;
    if (next == std::size(kFastRuleNames))
      return std::nullopt;
    rules.add(next);
    next = next < kRoundings ? kRoundings : next + 1;
  }
  return rules;
}

} // namespace lstmc
