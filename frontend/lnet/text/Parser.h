// Tokens to a tree: the grammar of docs/language.md §1.
#pragma once

#include <memory>

#include "frontend/lnet/text/Limits.h"
#include "frontend/lnet/text/Problems.h"
#include "frontend/lnet/text/Tree.h"

namespace lstmc::lnet {

/// Lexes and parses a file. Errors go to `problems`; the tree then holds the statements without
/// errors, and must not be run.
std::unique_ptr<Tree> parse(const SourceFile &file, const Limits &limits, Problems &problems);

} // namespace lstmc::lnet
