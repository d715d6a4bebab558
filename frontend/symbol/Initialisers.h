// The initialisers with arguments of their own: their names in the graph and in the language.
// "mixed", which holds other initialisers, is not among them.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

namespace lstmc::symbol {

struct InitialiserRow {
  std::string_view name;  ///< of Initialiser
  std::string_view shown; ///< the function of the language
  /// Numbers, but for `rnd_type`, `rand_type` and `factor_type`, which are words.
  std::array<std::string_view, 3> parameters{};
  bool required = false;           ///< the first parameter must be given
  std::string_view otherName = {}; ///< a second name that MXNet has for it
};

inline constexpr InitialiserRow kInitialisers[] = {
    {"uniform", "Uniform", {"scale", "low", "high"}},
    {"normal", "Normal", {"sigma"}},
    {"xavier", "Xavier", {"rnd_type", "factor_type", "magnitude"}},
    {"msraprelu", "MSRAPrelu", {"factor_type", "slope"}},
    {"orthogonal", "Orthogonal", {"scale", "rand_type"}},
    {"constant", "Constant", {"value"}, true},
    {"zero", "Zero", {}, false, "zeros"},
    {"one", "One", {}, false, "ones"},
    {"lstmbias", "LSTMBias", {"forget_bias"}},
};

/// Whether the suffix of a parameter's name determines its initialiser ("bias": zero), instead of
/// fit's.
bool isDecidedByName(std::string_view parameter);

/// Why a text is not a valid pattern of "mixed", "invalid escape sequence: \\1"; nullopt if it is
/// valid. Patterns match in linear time (ir/sym/Pattern.h).
std::optional<std::string> patternProblem(std::string_view pattern);

} // namespace lstmc::symbol
