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

struct LoadOptions : symbol::NetworkRequest {
  std::vector<std::string> includeDirs; ///< `-I`
  std::vector<std::string> dataFolders; ///< `--allow-data`
  Limits limits;
};

/// All keys that `fit(..)` takes.
std::vector<std::string_view> fitKeys();
/// The keys of data(..).
std::vector<std::string_view> dataKeys();

/// The text of layers.lnet, where the recurrent layers are.
std::string_view layersText();

/// Reads a file and everything that it imports, and draws the net that was asked for.
/// Errors: E01 text, E02 names, types and shapes, E03 evaluation, E0601 a file that cannot be read,
/// E0001 an option that names nothing in the file. Warnings come with the net.
Checked<symbol::Network> load(const std::string &path, const LoadOptions &options = {});

/// The same for a text that is not in a file. Messages show `name`, and imports are resolved in its
/// folder.
Checked<symbol::Network> loadText(const std::string &name, std::string text,
                                  const LoadOptions &options = {});

} // namespace lstmc::lnet
