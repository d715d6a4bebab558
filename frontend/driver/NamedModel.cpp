#include "frontend/driver/NamedModel.h"

#include <algorithm>
#include <iterator>

#include "frontend/driver/OfferedInputs.h"
#include "frontend/driver/SettingText.h"

namespace lstmc::driver {

/// The checkpoint of --params; none where that is a file of weights.
static Result<std::optional<training::Checkpoint>> checkpointOfParams(const RunRequest &options) {
  if (!options.params)
    return std::optional<training::Checkpoint>();
  LSTMC_ASSIGN(lstmc::Limits limits, fileLimits(options));
  Result<training::FoundCheckpoint> found = training::findCheckpoint(*options.params, limits);
  return found.ok() ? std::optional(std::move(found->checkpoint)) : std::nullopt;
}

Result<std::optional<data::Learned>> learnedFromParams(const RunRequest &options) {
  LSTMC_ASSIGN(std::optional<training::Checkpoint> checkpoint, checkpointOfParams(options));
  if (!checkpoint)
    return std::optional<data::Learned>();
  LSTMC_ASSIGN(data::Learned learned, learnedFrom(*checkpoint));
  return std::optional(std::move(learned));
}

static Checked<NamedModel> readCompiled(const std::string &path, const RunRequest &options,
                                        const ModelRequest &request) {
  NamedModel named;
  LSTMC_CHECKED_ASSIGN(named.model, loadModel(path, options, request));
  named.data = named.model->package->data().data;
  named.namer = {path, ""};
  const std::optional<training::Checkpoint> &checkpoint = named.model->checkpoint;
  if (checkpoint) {
    LSTMC_CHECKED_ASSIGN(named.learned, learnedFrom(*checkpoint));
    // Without --data: what it was trained on.
    for (package::Setting &key : tableKeys(checkpoint->state.source, options))
      named.data.push_back(std::move(key));
    named.data.push_back({"train", checkpoint->state.source});
    named.namer = {checkpoint->folder, checkpoint->state.sourceDigest};
  }
  return named;
}

Checked<NamedModel> readNamedModel(const std::string &path, const RunRequest &options,
                                   const ModelRequest &request) {
  if (!isSource(path))
    return readCompiled(path, options, request);
  NamedModel named;
  named.namer = {path, ""};
  if (leavesShapesOpen(path)) { // the data may say them
    named.asksData = true;
  } else {
    LSTMC_CHECKED_ASSIGN(symbol::Network net, loadSource(path, options, request));
    named.data = settingTexts(net.data);
  }
  LSTMC_CHECKED_ASSIGN(std::optional<training::Checkpoint> checkpoint, checkpointOfParams(options));
  if (checkpoint) {
    LSTMC_CHECKED_ASSIGN(named.learned, learnedFrom(*checkpoint));
    for (package::Setting &key : tableKeys(checkpoint->state.source, options))
      named.data.push_back(std::move(key));
  }
  return named;
}

Checked<Model> modelFor(NamedModel named, const std::string &path, const ModelData &data,
                        const CompileRequest &options, ModelRequest &request) {
  if (named.model)
    return std::move(*named.model);
  if (data.vocabulary)
    request.offeredVocab = int64_t(data.vocabulary->size());
  if (named.asksData)
    std::ranges::move(inputsOfData(*data.data), std::back_inserter(request.offeredInputs));
  return loadModel(path, options, request);
}

} // namespace lstmc::driver
