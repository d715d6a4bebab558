// `lstmc help --pages DIR`: the reference of what has a table, as Markdown.
#pragma once

#include <string>

#include "executor/base/OutputFile.h"
#include "frontend/cli/CommandResult.h"

namespace lstmc::cli {

/// Writes flags.md, errors.md, errors/CODE.md, optimizers.md, fit.md and names.md to `folder`,
/// which is made if it is not there. Fails as writeFile does.
CommandResult writePages(const std::string &folder, OutputFile::Existing existing);

} // namespace lstmc::cli
