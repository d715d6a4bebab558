// .lnet text to a graph: the room's front door.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "executor/base/Diagnostic.h"
#include "frontend/lnet/text/Limits.h"
#include "frontend/symbol/Network.h"

namespace lstmc::lnet {

using symbol::InputShape, symbol::SettingInForce;
using LoadedNet = symbol::Network;

struct LoadOptions : symbol::NetworkRequest {
  std::vector<std::string> includeDirs; ///< `-I`
  Limits limits;
};

/// All keys that `fit(..)` takes.
std::vector<std::string_view> fitKeys();

/// Reads a file and everything that it imports, and draws the net that was asked for.
/// Errors: E01 text, E02 names, types and shapes, E03 evaluation, E0601 a file that cannot be read,
/// E0001 an option that fits nothing in the file. Warnings come with the net.
Checked<LoadedNet> load(const std::string &path, const LoadOptions &options = {});

/// As above for text that is no file; `name` stands for it in messages, and its folder for imports.
Checked<LoadedNet> loadText(const std::string &name, std::string text,
                            const LoadOptions &options = {});

} // namespace lstmc::lnet
