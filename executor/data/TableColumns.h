// The columns of a table as a network reads them.
#pragma once

#include <cmath>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "executor/data/Csv.h"
#include "executor/data/DataSet.h"
#include "executor/data/Scaling.h"

namespace lstmc::data {

/// One column as features of the network: one for a numeric column, one per symbol for a text
/// column. Rows are given by their cells, as CsvTable::read has them.
struct Feature {
  const CsvColumn *column = nullptr;
  size_t number = 0; ///< of the column in the table
  const ColumnScaling *scaling = nullptr;
  std::vector<int32_t> symbolOf; ///< for text: the scaling's number of each symbol of the table

  int64_t width() const { return column->text ? int64_t(scaling->symbols.size()) : 1; }
  bool missing(const double *cells) const { return std::isnan(cells[number]); }
  double scaled(const double *cells) const {
    return (cells[number] - scaling->mean) / scaling->deviation;
  }
  int32_t symbol(const double *cells) const { return symbolOf[size_t(cells[number])]; }
  /// What a label is: the number of a symbol, or a scaled number.
  double label(const double *cells) const {
    return column->text ? double(symbol(cells)) : scaled(cells);
  }
  /// Adds the features of a row.
  void append(const double *cells, std::vector<double> &to) const;
};

/// The column of that name, scaled as in the training data: E0610 if it was not there or was of
/// another kind, E0607 for a text that was not.
Result<Feature> featureOf(const CsvTable &table, const std::vector<ColumnScaling> &scaling,
                          const std::string &name);

/// The column of that name, in which predictions are in the user's units; none where it is not.
std::optional<Target> targetOf(const std::vector<ColumnScaling> &scaling, const std::string &name);

/// Refuses (E0604) values of the rows [begin, end) that are out of range for the input: the first
/// of the first feature that has one.
Status checkRange(const CsvTable &table, const InputSlot &slot, std::span<const Feature> features,
                  int64_t begin, int64_t end);

} // namespace lstmc::data
