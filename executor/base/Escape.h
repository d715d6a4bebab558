// Makes text that contains names from files safe to print on a terminal.
#pragma once

#include <string>
#include <string_view>

namespace lstmc {

/// `text`, uncut, with these characters escaped as inQuotes() does: control characters, bytes that
/// are not UTF-8, and characters that change how others are shown (bidirectional controls and the
/// like). With `lines`, ends of lines and tabs are kept.
std::string escaped(std::string_view text, bool lines = false);

} // namespace lstmc
