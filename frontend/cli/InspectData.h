// What is in files of data: arrays, tables, texts.
#pragma once

#include <string>

#include "frontend/cli/CommandResult.h"
#include "frontend/cli/Console.h"
#include "frontend/cli/Options.h"

namespace lstmc::cli {

/// Prints what the loader of `path` finds, as text or lstmc.inspect/1; the kind follows from the
/// name, and what has none of the known ones is text.
CommandResult inspectData(const std::string &path, const Options &options, Console &console);

} // namespace lstmc::cli
