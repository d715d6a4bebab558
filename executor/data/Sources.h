// The kinds of data, each behind DataSet.
#pragma once

#include "executor/data/DataSet.h"

namespace lstmc::data {

// Makers, one a kind; DataSet::load chooses.
Result<std::unique_ptr<DataSet>> loadText(const DataSpec &, const Learned *, const Limits &);
Result<std::unique_ptr<DataSet>> loadTable(const DataSpec &, const Learned *, const Limits &);
Result<std::unique_ptr<DataSet>> loadArrays(const DataSpec &, const Limits &);
Result<std::unique_ptr<DataSet>> makeRandom(const DataSpec &);

/// The place behind the training part of `count` things in a row: floor(count * (1 - valid)).
int64_t splitPoint(int64_t count, double valid);

/// The one data input and the one label (null: none) that a source fills which has no names for
/// them. E0610 when there are more.
struct DataAndLabel {
  const InputSlot *data = nullptr;
  const InputSlot *label = nullptr;
};
Result<DataAndLabel> dataAndLabel(const std::vector<InputSlot> &slots, DataKind kind);

/// The batch extent that all slots have; E0605 when they differ.
Result<int64_t> batchExtent(const std::vector<InputSlot> &slots);

} // namespace lstmc::data
