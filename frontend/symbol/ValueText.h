// Values as the language writes them.
#pragma once

#include <string>
#include <string_view>

#include "frontend/symbol/Symbol.h"

namespace lstmc::symbol {

/// "(2, None)", "[0.5, 1.0]", "True": reads back as the same value.
std::string valueText(const AttributeValue &value);

/// "Uniform(scale=0.08)"
std::string initialiserText(const Initialiser &init);

/// A float as Python writes it: the shortest decimal that reads back as the same number.
std::string floatText(double value);

/// In double quotes, with escapes where they are needed.
std::string stringText(std::string_view text);
/// A character of such a string.
void appendEscaped(std::string &text, char c);

} // namespace lstmc::symbol
