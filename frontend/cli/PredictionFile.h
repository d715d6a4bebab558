// Predictions of a data set as they are written: a table, or arrays.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "executor/base/Tensor.h"
#include "frontend/cli/Console.h"

namespace lstmc::cli {

/// An output of `forward`, and how its values are shown.
struct PredictedOutput {
  std::string name;
  Tensor tensor; ///< of a batch
  int batchAxis = 0;
  int stepAxis = -1; ///< whose elements get a line each; -1: a row of the batch is a line
  double mean = 0, deviation = 1;   ///< from its scale to the user's: value * deviation + mean
  std::vector<std::string> classes; ///< names of its values; empty: they have none

  bool scaled() const { return mean != 0 || deviation != 1; }
  /// Values in a line.
  int64_t width() const;
  /// Lines of a row of the batch.
  int64_t steps() const { return stepAxis < 0 ? 1 : tensor.shape[size_t(stepAxis)]; }
  /// The values of a line, in the user's units and rounded to the output's type.
  void read(int64_t row, int64_t step, std::vector<double> &values) const;
};

/// What is said of a line besides its values.
struct LineLabel {
  int64_t row = 0;    ///< from 1
  int64_t step = 0;   ///< from 0, where a row has several lines
  std::string symbol; ///< of a text: what it is predicted from
};

class PredictionFile {
public:
  virtual ~PredictionFile() = default;
  /// Line (`row`, `step`) of the batch in the outputs' tensors.
  virtual Status add(const LineLabel &label, int64_t row, int64_t step) = 0;
  virtual Status finish() = 0;
};

/// What was asked of the file, and what goes into it.
struct PredictionRequest {
  std::string path; ///< "-": a table on stdout
  std::vector<PredictedOutput> outputs;
  int64_t lines = 0; ///< altogether
  int64_t top = 0;   ///< so many of the highest values, best first; 0: all values
  bool text = false; ///< lines have a symbol
  OutputFile::Existing existing = OutputFile::Existing::Keep;
};

/// Whether the path is that of a table: of .csv, or stdout.
bool isTablePath(std::string_view path);
/// E0001 unless the path ends in .csv, .npy or .npz, or is "-".
Status checkPredictionPath(const std::string &path);

/// Opens it. E0001 where a npy is to have several arrays, E0601 and E0608 of the file.
Result<std::unique_ptr<PredictionFile>> openPredictionFile(PredictionRequest request,
                                                           const Console &console);

} // namespace lstmc::cli
