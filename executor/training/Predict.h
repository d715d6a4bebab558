// Predicting: `forward` for every sample of a data set.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "executor/data/DataSet.h"
#include "executor/session/Session.h"

namespace lstmc::training {

/// An output with a prediction for each row of the batch.
struct PredictedRows {
  const package::Binding *output; ///< of the session's package
  Tensor tensor;                  ///< of a batch
  int batchAxis;
};

/// What is predicted, and from what. Valid as long as the session and the data.
struct Prediction {
  data::Samples samples;
  std::vector<PredictedRows> outputs;   ///< at least one, in the order of the network
  std::vector<std::string> leftOut;     ///< of each other output: which it is, and why
  bool mixesRows = false;               ///< a prediction depends on the other rows of its batch
  std::optional<Diagnostic> fault = {}; ///< of a prediction that is not finite
};

/// "softmax_output" as users call it: "softmax".
std::string outputName(std::string name);

/// The axis of that name; -1: none.
int axisNamed(const package::Binding &binding, std::string_view dim);

/// Every sample of `data` for `forward`. Data need no label: outputs that depend on one that the
/// data lack are left out, and so are those without the rows of the batch. `path` is where messages
/// say that the network is from. E0610 if no output is left, E0605 if the network mixes the rows of
/// a batch and the samples fill no whole batches, and the errors of DataSet::samples().
Result<Prediction> preparePrediction(Session &session, const data::DataSet &data,
                                     const std::string &path);

/// Runs all batches, with carried states as the data say, and calls `take` after each, which reads
/// the outputs of its first `rows` rows, of which `first` is the first sample. False from `goesOn`,
/// which is asked before each batch, ends it. E0701 where a prediction is not finite, and `fault`
/// then has all of it.
Status predict(Session &session, Prediction &prediction,
               const std::function<Status(int64_t first, int64_t rows)> &take,
               const std::function<bool()> &goesOn);

/// Predictions of one output for all samples, one after the other along the axis of the batch.
struct PredictedArray {
  std::string name;
  int batchAxis;
  data::Array array;

  /// Memory for `samples` of them.
  PredictedArray(const PredictedRows &output, int64_t samples);
  /// The first `rows` rows of a batch, whose first sample is `first`.
  void take(const Tensor &batch, int64_t first, int64_t rows);
};

/// As predict(), with all of it in memory.
Result<std::vector<PredictedArray>> predictAll(Session &session, Prediction &prediction,
                                               const std::function<bool()> &goesOn);

} // namespace lstmc::training
