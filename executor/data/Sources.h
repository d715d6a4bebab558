// The kinds of data, each behind DataSet.
#pragma once

#include <algorithm>

#include "executor/base/InputFile.h"
#include "executor/data/DataSet.h"

namespace lstmc::data {

// Makers, one a kind; DataSet::load chooses.
Result<std::unique_ptr<DataSet>> loadText(const DataSpec &, const Learned *, const Limits &);
Result<std::unique_ptr<DataSet>> loadTable(const DataSpec &, const Learned *, const Limits &);
Result<std::unique_ptr<DataSet>> loadArrays(const DataSpec &, const Limits &);
Result<std::unique_ptr<DataSet>> makeRandom(const DataSpec &);

/// The bytes of a file of `spec`.
Result<Bytes> readSource(const DataSpec &spec, const std::string &file);

/// The place after the training part of `count` things in a row: floor(count * (1 - valid)).
int64_t splitPoint(int64_t count, double valid);

/// The one data input and the one label (null: none) that a source fills which has no names for
/// them. E0610 when there are more.
struct DataAndLabel {
  const InputSlot *data = nullptr;
  const InputSlot *label = nullptr;
};
Result<DataAndLabel> dataAndLabel(const std::vector<InputSlot> &slots, DataKind kind);

/// Batches of `batch` samples out of `count`: whole ones for training, else all that have a sample.
inline int64_t batchesOf(int64_t count, int64_t batch, Part part) {
  return part == Part::Train ? count / batch : (count + batch - 1) / batch;
}
/// Samples of batch `number`.
inline int64_t rowsOf(int64_t count, int64_t batch, int64_t number) {
  return std::min(batch, count - number * batch);
}
/// "2 of 14 samples fill no batch of 4"; empty where training leaves none out.
std::string samplesLeftOut(int64_t count, int64_t batch, Part part, std::string_view what);

/// The batch extent that all slots have; E0605 when they differ.
Result<int64_t> batchExtent(const std::vector<InputSlot> &slots);

} // namespace lstmc::data
