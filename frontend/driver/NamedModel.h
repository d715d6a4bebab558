// A model that is run on data: what it says of them, before they are read.
#pragma once

#include <optional>
#include <vector>

#include "frontend/driver/Data.h"
#include "frontend/driver/Model.h"

namespace lstmc::driver {

/// A package or checkpoint is there already; a source is compiled once its data are known, which
/// offer the size of the vocabulary.
struct NamedModel {
  std::optional<Model> model;
  bool asksData = false;                ///< a source that leaves its shapes open
  std::vector<package::Setting> data;   ///< of data(..), for loadData()
  DataNamer namer;                      ///< who says that
  std::optional<data::Learned> learned; ///< what a checkpoint keeps of its data

  const data::Learned *known() const { return learned ? &*learned : nullptr; }
};

/// Reads `path` as far as that goes. Data are seen as those that a checkpoint was
/// trained on, with its vocabulary and scaling: its weights are of these. The errors of
/// loadModel().
Checked<NamedModel> readNamedModel(const std::string &path, const RunRequest &options,
                                   const ModelRequest &request);

/// The model, compiled now where it is a source; `request` gets the vocabulary and the shapes that
/// the data offer.
Checked<Model> modelFor(NamedModel named, const std::string &path, const ModelData &data,
                        const CompileRequest &options, ModelRequest &request);

/// What the checkpoint of --params keeps of its data; none without one.
Result<std::optional<data::Learned>> learnedFromParams(const RunRequest &options);

} // namespace lstmc::driver
