// Brings the columns of a table to one scale.
#pragma once

#include "executor/base/Limits.h"
#include "executor/data/Csv.h"

namespace lstmc::data {

/// What is learned about a column from the training part.
struct ColumnScaling {
  std::string name;
  bool text = false;
  double mean = 0, deviation = 1;   ///< of a numeric column; deviation 1 if the column is constant
  std::vector<std::string> symbols; ///< of a text column, sorted by bytes
};

/// Computed from the first `rows` rows without missing cells. Mean and deviation are those of the
/// population, in two passes in f64 over ascending rows. Symbols are those of the whole table.
/// Errors are those of CsvTable::read.
Result<std::vector<ColumnScaling>> learnScaling(const CsvTable &table, int64_t rows);

/// As JSON, a column a line, with numbers of as many digits as keep every bit.
std::string scalingText(const std::vector<ColumnScaling> &scaling);
Result<std::vector<ColumnScaling>> parseScaling(std::string_view text, const std::string &file,
                                                const Limits &limits);

} // namespace lstmc::data
