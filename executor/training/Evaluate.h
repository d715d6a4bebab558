// Measuring a model on data.
#pragma once

#include <functional>

#include "executor/data/DataSet.h"
#include "executor/training/Metrics.h"
#include "executor/training/Trainable.h"

namespace lstmc::training {

struct Evaluation {
  MetricTotals totals;
  int64_t sequences = 0;
  double seconds = 0;
  std::string leftOut;      ///< data that were not measured, in words; empty where all were
  bool interrupted = false; ///< it has ended early, so that the totals are of a part
};

/// Metrics of a program's own, of each batch that is measured.
class OwnMetrics {
public:
  virtual ~OwnMetrics() = default;
  virtual void begin() = 0;
  /// The inputs of `evaluate` are filled, and its states are those before the batch.
  virtual Status filled() = 0;
  /// The batch is measured; its first `rows` rows count. States and inputs are left as they are.
  virtual Status measured(int64_t rows) = 0;
  virtual std::vector<std::pair<std::string, double>> values() = 0;
};

/// Runs `evaluate` over every batch of one epoch of `feed`, states carried from zero and as the
/// feed says, and sums what the heads measured, row after row, so that the sums are the same for
/// any batch. A net that mixes rows is measured on whole batches only. States are then what they
/// were before. The same numbers for `lstmc eval` and for validation while training.
///
/// `explain`, if there is one, is called for a batch whose measures are not all finite, with inputs
/// and states as they were before it; what it returns ends the evaluation. It ends early where
/// `interrupted`, asked before every batch, says so; empty: never. With `own`, unless null, no
/// inputs are filled while devices work.
Result<Evaluation> evaluate(Trainable &model, data::Feed &feed,
                            const std::function<Error(int64_t batch)> &explain = {},
                            const std::function<bool()> &interrupted = {},
                            OwnMetrics *own = nullptr);

/// What of the data `evaluate` would not measure, in words; empty where nothing.
std::string leftOutOf(const Trainable &model, const data::Feed &feed);

/// E0001 where the model carries states and no batch of the training data continues another, so
/// that carrying them would do nothing.
Status checkCarried(Trainable &model, const data::Feed &feed, const std::string &source);

/// Sets all states to zero.
void resetStates(Trainable &model);

} // namespace lstmc::training
