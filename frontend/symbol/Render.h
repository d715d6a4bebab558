// Draws diagnostics as docs/language.md §5 shows them.
#pragma once

#include <string>
#include <string_view>

#include "executor/base/Diagnostic.h"

namespace lstmc::symbol {

/// `FILE:LINE:COLUMN: SEVERITY[CODE]: MESSAGE`, the line with its underlines, reasons, help. Ends
/// with a line end.
std::string render(const Diagnostics &diagnostics, bool color = false);

/// lstmc.diagnostics/1, on one line without an end.
std::string renderJson(const Diagnostics &diagnostics);

/// Display cells of one code point that begins at cell `column` (from 0): a tab reaches to the next
/// multiple of 8, wide characters take 2, combining marks 0.
int cellsOf(std::string_view character, int column);

} // namespace lstmc::symbol
