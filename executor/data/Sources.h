// The kinds of data, which DataSet hides from its callers.
#pragma once

#include <algorithm>

#include "executor/base/InputFile.h"
#include "executor/base/Sha256.h"
#include "executor/data/Csv.h"
#include "executor/data/DataSet.h"
#include "executor/data/Scaling.h"
#include "executor/data/StoredBytes.h"

namespace lstmc::data {

// One function for each kind; DataSet::load chooses.
Result<std::unique_ptr<DataSet>> loadText(const DataSpec &, const Learned *, const Limits &);
Result<std::unique_ptr<DataSet>> loadTable(const DataSpec &, const Learned *, const Limits &);
/// The sequences of a table that loadTable has read. `scaling`: of the training data; empty for
/// these themselves.
Result<std::unique_ptr<DataSet>> sequencesOf(const DataSpec &, CsvTable table,
                                             std::vector<ColumnScaling> scaling,
                                             std::string digest);
Result<std::unique_ptr<DataSet>> loadArrays(const DataSpec &, const Limits &);
Result<std::unique_ptr<DataSet>> makeRandom(const DataSpec &);

/// Whether `file` is stdin: "-", if a user typed it.
bool isInput(const DataSpec &spec, const std::string &file);
/// Opens a file that `spec` names and that is not stdin.
Result<InputFile> openSource(const DataSpec &spec, const std::string &file);
/// The bytes of a file that `spec` names, in memory if there are at most `held`, or of stdin, in
/// memory.
Result<StoredBytes> readSource(const DataSpec &spec, const std::string &file, uint64_t held);
Status addTo(Sha256 &digest, const StoredBytes &bytes);

/// A feed for `slots` that a thread of its own fills, one batch ahead, so that reading the data
/// takes no time of the step. `make` makes the feed that reads, for the slots that it is given. The
/// same batches, copied once more.
Result<std::unique_ptr<Feed>>
readAhead(std::vector<InputSlot> slots,
          const std::function<Result<std::unique_ptr<Feed>>(std::vector<InputSlot>)> &make);

/// Number of elements in the training part, of `count` elements in a row: floor(count * (1 -
/// valid)).
int64_t splitPoint(int64_t count, double valid);

/// The one data input and the one label (null: none) for a source whose data have no names. E0610
/// if the network has more.
struct DataAndLabel {
  const InputSlot *data = nullptr;
  const InputSlot *label = nullptr;
};
Result<DataAndLabel> dataAndLabel(const std::vector<InputSlot> &slots, DataKind kind);

/// Batches of `batch` samples out of `count`: only whole ones in training, else every sample.
inline int64_t batchesOf(int64_t count, int64_t batch, Part part) {
  return part == Part::Train ? count / batch : (count + batch - 1) / batch;
}
/// Number of data samples in batch `number`.
inline int64_t rowsOf(int64_t count, int64_t batch, int64_t number) {
  return std::min(batch, count - number * batch);
}
/// "2 of 14 samples fill no batch of 4"; empty if training uses all samples.
std::string samplesLeftOut(int64_t count, int64_t batch, Part part, std::string_view what);

/// The batch extent of all slots; E0605 if they differ.
Result<int64_t> batchExtent(const std::vector<InputSlot> &slots);

} // namespace lstmc::data
