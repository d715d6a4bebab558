// DOT text, and Graphviz.
#pragma once

#include <string>
#include <string_view>

#include "executor/base/Status.h"

namespace lstmc::viz {

/// A double-quoted DOT string of the text; "\n" breaks the line.
std::string quoted(std::string_view text);

/// Text of an XML element or of a quoted attribute; what XML cannot hold is left out.
std::string xmlText(std::string_view text);

/// The picture of a DOT text in a format of Graphviz (svg, png, pdf). E0501 when `dot` is not
/// installed.
Result<std::string> render(const std::string &dot, std::string_view format);

} // namespace lstmc::viz
