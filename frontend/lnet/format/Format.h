// `lstmc fmt`: the one style of docs/language.md §6.
#pragma once

#include <string>

#include "executor/base/Diagnostic.h"
#include "frontend/lnet/text/Limits.h"

namespace lstmc::lnet {

/// The text in the one style. Text with syntax errors is not formatted: the errors are returned.
Checked<std::string> format(const std::string &path, std::string text, const Limits &limits = {});

} // namespace lstmc::lnet
