// Text with names out of files in it, made fit for a terminal.
#pragma once

#include <string>
#include <string_view>

namespace lstmc {

/// `text` with control characters, bytes that are no UTF-8 and characters that change how others
/// are shown (bidirectional controls and the like) escaped as inQuotes() does; all of it. Ends of
/// lines and tabs stay with `lines`.
std::string escaped(std::string_view text, bool lines = false);

} // namespace lstmc
