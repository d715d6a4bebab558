// .lnet text to a graph: the room's front door.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "executor/base/Diagnostic.h"
#include "frontend/lnet/text/Limits.h"
#include "frontend/symbol/Symbol.h"

namespace lstmc::lnet {

/// `--shape data:64x35`: extents of an input, and its dtype if one was given.
struct InputShape {
  std::string input;
  std::vector<int64_t> extents;
  std::optional<DType> dtype;
};

struct LoadOptions {
  std::vector<std::pair<std::string, std::string>> settings; ///< `--set NAME=VALUE`, as written
  std::vector<InputShape> shapes;
  std::string net;                      ///< `--net`; empty: the file decides
  std::vector<std::string> includeDirs; ///< `-I`
  Limits limits;
  std::optional<int64_t>
      offeredVocab; ///< symbols that the data have; stands above the file, below `--set`
  bool werror = false;
};

/// A `setting` or `dim` of the files read, with the value in force.
struct SettingInForce {
  std::string name;
  symbol::AttributeValue value, defaultValue;
  std::string help;
  std::string origin; ///< "file", "--set", "--shape", "data"
  bool isDim = false;
  SourceRange place;
};

struct LoadedNet {
  std::unique_ptr<symbol::Graph>
      graph; ///< finished: shapes inferred, fit, data and settings given to it
  std::string net;
  std::vector<std::string> nets; ///< all of the file, in order
  std::vector<SettingInForce> settings;
  /// Defaults of `fit(..)` and `data(..)` for this net, in the order written. Lists of strings
  /// (`carry`, `eval_metric`) are one string with commas.
  std::vector<symbol::Setting> fit, data;
  std::vector<symbol::Setting> place; ///< of `place(..)`: ctx_group, and its device as text
  std::vector<std::string> files;     ///< read, as named in messages; the main one first
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
