// Data of a training: arrays, the user's own batches, or a SPEC as the command has it.
#pragma once

#include <memory>
#include <string>

#include <nanobind/nanobind.h>

#include "executor/data/DataSet.h"
#include "executor/training/Checkpoint.h"
#include "frontend/driver/Data.h"

namespace lstmc::python {

/// A data set, and the validation data that came with its SPEC.
struct PythonData {
  std::shared_ptr<data::DataSet> data, valid;
  std::optional<data::Vocabulary> vocabulary;
  std::string remark = {}; ///< as ModelData has it
};

/// What data have taught a network: another SPEC is read by this vocabulary, or scaled and read as
/// this table.
struct PythonLearned {
  data::Learned learned;
  std::string source; ///< their SPEC
};

/// What a checkpoint keeps of its data.
PythonLearned learnedOf(const training::Checkpoint &checkpoint);

void addData(nanobind::module_ &module);

} // namespace lstmc::python
