// Where data come from, as the user writes it.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "executor/base/Status.h"
#include "executor/data/Vocabulary.h"

namespace lstmc::data {

enum class DataKind { Text, Csv, Npz, Npy, Idx, Random };

/// What to do with a missing cell.
enum class Fill {
  Refuse,   ///< E0607
  Previous, ///< use the cell of the row before; rows before the first value are treated as with
            ///< Drop
  Drop,     ///< leave out the windows that would contain it
};

/// A data SPEC: `KIND:FILE` or `KIND:NAME=FILE,...`, followed by any number of `,KEY=VALUE`;
/// dataKinds() and dataKeys() have them all.
struct DataSpec {
  DataKind kind = DataKind::Text;
  std::string source; ///< as the user wrote it
  std::vector<std::pair<std::string, std::string>>
      files; ///< input and file; the file of the input "" has all inputs
  /// Folders that the files have to be in (base/NestedFile.h), if a file named them; empty if a
  /// user typed their names.
  std::vector<std::string> folders;
  uint64_t seed = 0;            ///< seed of the kind random
  double valid = 0;             ///< share of the data, at the end, that is kept for validation, in
                                ///< [0, 1)
  bool shuffle = true;          ///< a new order of training samples in each epoch; of text, of
                                ///< lines only
  std::optional<TextUnit> unit; ///< not given: the unit of the vocabulary, else characters
  std::string vocabularyFile;
  bool lines = false; ///< each line of a text is a sequence, filled up
  /// Steps that sequences are filled up to, ascending: each to the fewest that hold it, and longer
  /// ones are left out. Empty: all to the steps of the network's input, and none may be longer.
  std::vector<int64_t> buckets;
  std::vector<std::string> inputs; ///< columns; empty: all
  std::string target;
  std::string sequence; ///< column that says which rows are one sequence; empty: windows of rows
  int64_t window = 0;   ///< number of rows in a window of csv; 0: from the network's input
  int64_t horizon = 1;  ///< rows from the last of a window to its target
  std::string missing = "NA";
  Fill fill = Fill::Refuse;
  bool unlabelled = false; ///< labels are not read, and the column of the target need not be there
  int64_t classes = 0;     ///< labels are below this; 0: not given
  int64_t batches = 100;   ///< number of batches per epoch, for random

  /// E0001, naming the key, for an unknown kind or key or an invalid value.
  static Result<DataSpec> parse(std::string_view text);

  /// Sets one KEY, as `data(..)` in a model file does.
  Status set(std::string_view key, std::string_view value);
};

std::string_view dataKindName(DataKind kind);

/// A kind as it is written, "text:FILE", and what it reads.
struct DataKindRecord {
  std::string_view name, form, meaning;
  bool namedFiles; ///< the files are given as NAME=FILE, not as one FILE
};
std::span<const DataKindRecord> dataKinds();

/// A KEY=VALUE of a spec, and the kinds that have it, separated by spaces.
struct DataKeyRecord {
  std::string_view name, value, kinds, meaning;
};
std::span<const DataKeyRecord> dataKeys();

} // namespace lstmc::data
