// Where data come from, as the user says it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "executor/base/Status.h"
#include "executor/data/Vocabulary.h"

namespace lstmc::data {

enum class DataKind { Text, Csv, Npz, Npy, Idx, Random };

/// What to do about a cell that is missing.
enum class Fill {
  Refuse,   ///< E0607
  Previous, ///< take the row's before; rows before the first value stay missing, as with Drop
  Drop,     ///< leave out the windows that would hold it
};

/// A data SPEC: `KIND:FILE` or `KIND:NAME=FILE,...`, then `,KEY=VALUE`.
///
///   text:FILE            unit=char|word|byte  vocab=FILE  valid=0.1
///   csv:FILE             inputs=A|B  target=C  window=T  horizon=1  na=NA
///                        fill=refuse|previous|drop  valid=0.1  shuffle=yes|no
///   npz:FILE             valid=0.1  shuffle=yes|no
///   npy:data=X,label=Y   the same
///   idx:data=X,label=Y   the same, and classes=N
///   random:SEED          batches=100  classes=2
struct DataSpec {
  DataKind kind = DataKind::Text;
  std::string source; ///< as the user wrote it
  std::vector<std::pair<std::string, std::string>>
      files; ///< input and file; the input "" is all of them
  /// Where the files may lie (base/NestedFile.h), where a file named them; empty: a user typed
  /// them.
  std::vector<std::string> folders;
  uint64_t seed = 0;            ///< of random
  double valid = 0;             ///< the part at the end that is kept for validation, in [0, 1)
  bool shuffle = true;          ///< order of training samples anew each epoch; text never
  std::optional<TextUnit> unit; ///< not said: that of the vocabulary, else characters
  std::string vocabularyFile;
  std::vector<std::string> inputs; ///< columns; empty: all
  std::string target;
  int64_t window = 0;  ///< rows of a csv window; 0: what the network's input has
  int64_t horizon = 1; ///< rows from the last of a window to its target
  std::string missing = "NA";
  Fill fill = Fill::Refuse;
  int64_t classes = 0;   ///< labels are below this; 0: not said
  int64_t batches = 100; ///< of random, an epoch

  /// E0001, naming the key, for a kind, key or value that there is not.
  static Result<DataSpec> parse(std::string_view text);

  /// Sets one KEY, as a key of `data(..)` in a model file does.
  Status set(std::string_view key, std::string_view value);
};

std::string_view dataKindName(DataKind kind);

} // namespace lstmc::data
