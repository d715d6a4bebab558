// Result of a frontend, for any kind of source.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "executor/base/Diagnostic.h"
#include "frontend/symbol/Symbol.h"

namespace lstmc::symbol {

/// Extents of an input, and its dtype where one is wanted too: `--shape data:64x35`.
struct InputShape {
  std::string input;
  std::vector<int64_t> extents;
  std::optional<DType> dtype;
};

/// A variable that the user gives a value to: an input of a source that does not say which of its
/// variables are inputs, or of which shape. The value may have no shape, as a number has none.
struct OfferedInput {
  std::string name;
  Shape shape;
  std::optional<DType> dtype;
  bool ofAllSamples = false; ///< the extent of the batch axis is no batch, but all that there is
};

/// Options for reading a source.
struct NetworkRequest {
  std::vector<std::pair<std::string, std::string>> settings; ///< `--set NAME=VALUE`, as written
  std::vector<InputShape> shapes;
  std::vector<OfferedInput> offeredInputs; ///< below `shapes`
  /// `--layout NAME=TNC`: the axes of an input by letters, N for the batch.
  std::vector<std::pair<std::string, std::string>> layouts;
  std::string net;                     ///< `--net`; empty: the source decides
  std::optional<int64_t> offeredVocab; ///< symbols that the data have; stands above the source,
                                       ///< below `settings`
  bool werror = false;
};

/// A `setting` or `dim` of the source, with the value in force.
struct SettingInForce {
  std::string name;
  AttributeValue value, defaultValue;
  std::string help;
  std::string origin; ///< "file", "--set", "--shape", "data"
  bool isDim = false;
  SourceRange place;
};

/// An initialiser that lstmc does not know: its text, and the parameter that it is of.
struct UnknownInitialiser {
  std::string parameter, text;
  Origin origin;
};

/// A network with the training settings of its source. Diagnostics of the graph contain their
/// source lines.
struct Network {
  std::unique_ptr<Graph> graph; ///< finished: shapes inferred, fit, data and settings given to it
  std::string net;
  std::vector<std::string> nets; ///< all of the source, in order
  std::vector<SettingInForce> settings;
  /// Defaults of `fit(..)` and `data(..)` for this net, in the order written. Lists of strings
  /// (`carry`, `eval_metric`) are one string with commas.
  std::vector<Setting> fit, data;
  std::vector<Setting> place;     ///< of `place(..)`: ctx_group, and its device as text
  std::vector<std::string> files; ///< read, as named in messages; the main one first
  /// Parameters that need a value from elsewhere: weights, or fit's initialiser.
  std::vector<UnknownInitialiser> unknownInitialisers;
};

} // namespace lstmc::symbol
