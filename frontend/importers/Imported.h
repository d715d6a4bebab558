// What a file of another program holds, in one form for the command, the library and Python.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "executor/base/OutputFile.h"
#include "executor/data/Array.h"
#include "frontend/symbol/Network.h"

namespace lstmc::importers {

/// Either `network` or `text` is there.
struct Imported {
  std::optional<symbol::Network> network; ///< of a source
  /// The network that weights belong to, in the language, as `lstmc fmt` writes it. Comments say
  /// where it is from and what it assumes.
  std::string text;
  std::vector<data::NamedArray> tensors; ///< under the names of the network's parameters
  std::vector<std::string> modules;      ///< "embed        Embedding 65 -> 32", in order
  std::vector<std::string> assumptions;  ///< what the text states and the file does not contain
  std::vector<std::string> warnings;     ///< where something without weights probably stood
};

/// Writes the text, and the tensors as safetensors unless `weights` is empty.
Status write(Imported &imported, const std::string &network, const std::string &weights,
             OutputFile::Existing existing);

} // namespace lstmc::importers
