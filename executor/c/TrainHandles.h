// The types of the handles that lstmc_train.h declares.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "executor/c/Handles.h"
#include "executor/c/include/lstmc/lstmc_train.h"
#include "executor/data/CalledData.h"
#include "executor/training/CheckpointState.h"
#include "executor/training/FitSettings.h"
#include "executor/training/Predict.h"
#include "executor/training/SessionTrainable.h"

namespace lstmc::c {

/// Inputs of other entries than the one that is run, such as labels of a prediction: a source fills
/// them as always, and nobody reads them.
struct UnreadInputs {
  struct Input {
    data::InputSlot slot;
    Bytes memory; ///< of a batch
  };
  std::vector<Input> inputs;
};

} // namespace lstmc::c

struct lstmc_data {
  std::unique_ptr<lstmc::data::DataSet> data;
  std::optional<lstmc_vocabulary> vocabulary = {};
  std::shared_ptr<lstmc::c::UnreadInputs> unread = {}; ///< of a source of the program
};

/// Handed to a source while it fills.
struct lstmc_place {
  std::span<lstmc::data::CalledInput> inputs;
  lstmc::c::UnreadInputs &unread;
  bool isRow;
  int64_t rows = lstmc::data::kWholeBatch; ///< samples of a batch
};

struct lstmc_trainer {
  lstmc_session *session;
  std::unique_ptr<lstmc::training::SessionTrainable> model; ///< null: it measures nothing
  lstmc::training::FitSettings fit;                         ///< of the package
  lstmc::training::CheckpointState state;                   ///< of the weights as they are
  std::optional<uint64_t> initialChanges; ///< of the session, if its weights were initial ones then
};

struct lstmc_predictions {
  std::vector<lstmc::training::PredictedArray> outputs;
};
