// DOT text, and its rendering by Graphviz.
#pragma once

#include <string>
#include <string_view>

#include "executor/base/Status.h"

namespace lstmc::viz {

/// The text as a double-quoted DOT string; "
/// " becomes a line break.
std::string quoted(std::string_view text);

/// Escapes text for an XML element or quoted attribute; characters that XML does not allow are
/// removed.
std::string xmlText(std::string_view text);

/// Renders DOT text in a format of Graphviz (svg, png, pdf). E0501 if `dot` is not installed.
Result<std::string> render(const std::string &dot, std::string_view format);

} // namespace lstmc::viz
