// `lstmc fmt`: the one style of docs/language.md §6.
#pragma once

#include <string>

#include "executor/base/Diagnostic.h"
#include "frontend/lnet/text/Limits.h"

namespace lstmc::lnet {

/// The text in the one style. The errors of its syntax, if it has any; it is then left alone.
Checked<std::string> format(const std::string &path, std::string text, const Limits &limits = {});

} // namespace lstmc::lnet
