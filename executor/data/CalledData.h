// Data that the program makes itself: samples in any order, or batches one after the other.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>

#include "executor/data/DataSet.h"

namespace lstmc::data {

/// Memory of one input for one sample (without the batch axis) or for a batch: dense.
struct CalledInput {
  const InputSlot *slot;
  Tensor tensor;
  bool asked = false; ///< set by who hands it out: what nobody asked for was not filled
};

struct CalledSamples {
  int64_t count = 0;
  /// Fills sample `index`; called in the order of batches.
  std::function<Status(int64_t index, std::span<CalledInput>)> fill;
  double valid = 0; ///< as DataSpec has them
  bool shuffle = true;
};

/// E0001 for a count below 1 and a share that is none. Feeds: E0604, with the sample, for a value
/// out of range; E0001 for an input that `fill` did not ask for.
Result<std::unique_ptr<DataSet>> ofSamples(CalledSamples samples);

/// Samples of a batch that is whole.
inline constexpr int64_t kWholeBatch = -1;

struct CalledBatches {
  /// Fills the next batch, and gives how many samples it has, or kWholeBatch; 0: the epoch is over,
  /// and the next call begins another.
  std::function<Result<int64_t>(std::span<CalledInput>)> next;
  /// Where the source is, and back to there; both or none.
  std::function<Result<std::string>()> mark;
  std::function<Status(std::string_view mark)> seek;
  int64_t batches = 0;  ///< of an epoch; 0: one epoch is read to count them
  int64_t lastRows = 0; ///< samples of its last batch, where `batches` is given; 0: it is whole
  bool continues = false;
};

/// E0001 for a half of mark and seek. Feeds of one of them are used one at a time, and by one
/// thread. E0605 where an epoch has another number of batches or of samples than the first, and
/// errors as above. A last batch that is not whole is left out of training, and its other rows are
/// copies of its last.
Result<std::unique_ptr<DataSet>> ofBatches(CalledBatches batches);

} // namespace lstmc::data
