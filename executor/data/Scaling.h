// How the columns of a table are brought to one scale.
#pragma once

#include "executor/base/Limits.h"
#include "executor/data/Csv.h"

namespace lstmc::data {

/// What the training part says about a column.
struct ColumnScaling {
  std::string name;
  bool text = false;
  double mean = 0, deviation = 1;   ///< of a numeric column; a constant one has deviation 1
  std::vector<std::string> symbols; ///< of a text column, sorted by bytes
};

/// From the first `rows` rows; missing cells take no part. Mean and deviation are of the
/// population, two passes in f64 over ascending rows. Symbols are those of the whole table.
std::vector<ColumnScaling> learnScaling(const CsvTable &table, int64_t rows);

/// As JSON, with numbers as hex floats so that they come back bit for bit.
std::string scalingText(const std::vector<ColumnScaling> &scaling);
Result<std::vector<ColumnScaling>> parseScaling(std::string_view text, const std::string &file,
                                                const Limits &limits);

} // namespace lstmc::data
