// Kinds of files that a network comes from: what a file is by its first bytes, and who reads it.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "executor/base/Limits.h"
#include "frontend/importers/Imported.h"
#include "frontend/importers/WeightRules.h"
#include "frontend/lnet/text/Limits.h"
#include "frontend/symbol/Network.h"

namespace lstmc::importers {

/// A file, or a text that was read already: that of standard input.
struct Source {
  std::string path; ///< as messages name it
  std::optional<std::string> text;
};

/// What a file is read with. A kind takes what it has a use for.
struct ImportRequest : symbol::NetworkRequest {
  std::vector<std::string> includeDirs; ///< `-I`
  std::vector<std::string> dataFolders; ///< `--allow-data`
  lnet::Limits textLimits;              ///< of the language
  Limits limits;                        ///< of all other files

  // Of weights without a network.
  std::optional<WeightRule> rule;   ///< none: found by names and shapes
  std::vector<std::string> modules; ///< from input to output; empty: found by their shapes
  bool batchFirst = true;           ///< the input is [N, T, ...], else [T, N, ...]
};

/// A kind of file.
struct Importer {
  std::string_view name; ///< in messages: "symbol.json"
  /// Decides for files whose first bytes no kind recognises.
  std::string_view suffix;
  /// Whether a file begins as one; null for text that may begin in any way.
  bool (*begins)(std::string_view begin);
  /// Whether the user says the shapes of inputs, because the source does not.
  bool leavesShapesOpen;
  bool weightsAlone = false; ///< it holds tensors, and ImportRequest::rule says of which network
  /// Errors name the place in the source; warnings come with the network.
  Checked<Imported> (*load)(const Source &source, const ImportRequest &request);
};

/// All kinds, in the order of importers.def.
std::span<const Importer *const> importers();

/// The kind of a source of networks by its first bytes, else by the suffix of its path; null for
/// neither.
const Importer *importerOf(const Source &source);
/// The same for a file that is not read yet; of one that cannot be read, by its suffix.
const Importer *importerOf(const std::string &path);

/// Reads weights without a network by ImportRequest::rule, else by the first rule whose names and
/// shapes they have.
Checked<Imported> readWeights(const Source &source, const ImportRequest &request);

/// Whether a file is one of weights, by its name.
bool isWeights(const std::string &path);

/// Reads a source by its kind; E0603 for a file of another program that is known, and the language
/// for all else.
Checked<Imported> read(const Source &source, const ImportRequest &request);

/// The network of a source.
Checked<symbol::Network> load(const Source &source, const ImportRequest &request);

/// The comment that says where the text of a network is from.
std::string originLine(const std::string &path, std::optional<WeightRule> rule);

/// A network as what a kind of source reads.
Checked<Imported> asImported(Checked<symbol::Network> network);

} // namespace lstmc::importers
