#include "frontend/cli/NamedModel.h"

#include "frontend/cli/SettingText.h"

namespace lstmc::cli {

Result<std::optional<data::Learned>> learnedFromParams(const Options &options) {
  if (!options.params)
    return std::optional<data::Learned>();
  Result<training::FoundCheckpoint> found = training::findCheckpoint(*options.params);
  if (!found.ok())
    return std::optional<data::Learned>(); // it is a file of weights
  LSTMC_ASSIGN(data::Learned learned, learnedFrom(found->checkpoint));
  return std::optional(std::move(learned));
}

static Checked<NamedModel> readCompiled(const Options &options, const ModelRequest &request,
                                        Remember remember) {
  NamedModel named;
  LSTMC_CHECKED_ASSIGN(named.model, loadModel(options, request));
  named.data = named.model->package->data().data;
  named.namer = {options.operands[0], ""};
  const std::optional<training::Checkpoint> &checkpoint = named.model->checkpoint;
  if (remember == Remember::WhatWasLearned && checkpoint) {
    LSTMC_CHECKED_ASSIGN(named.learned, learnedFrom(*checkpoint));
    // Without --data: what it was trained on.
    named.data.push_back({"train", checkpoint->state.source});
    named.namer = {checkpoint->folder, checkpoint->state.sourceDigest};
  }
  return named;
}

Checked<NamedModel> readNamedModel(const Options &options, const ModelRequest &request,
                                   Remember remember) {
  LSTMC_CHECKED_TRY(checkOneModel(options));
  if (!isSource(options.operands[0]))
    return readCompiled(options, request, remember);
  LSTMC_CHECKED_ASSIGN(symbol::Network net, loadSource(options.operands[0], options, request));
  NamedModel named;
  named.data = settingTexts(net.data);
  named.namer = {options.operands[0], ""};
  if (remember == Remember::WhatWasLearned) {
    LSTMC_CHECKED_ASSIGN(named.learned, learnedFromParams(options));
  }
  return named;
}

Checked<Model> modelFor(NamedModel named, const ModelData &data, const Options &options,
                        ModelRequest &request) {
  if (named.model)
    return std::move(*named.model);
  if (data.vocabulary)
    request.offeredVocab = int64_t(data.vocabulary->size());
  return loadModel(options, request);
}

} // namespace lstmc::cli
