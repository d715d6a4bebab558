#include "frontend/driver/TrainOptions.h"

#include <algorithm>
#include <limits>

#include "executor/package/Plan.h"
#include "frontend/driver/FitCheck.h"
#include "frontend/driver/Version.h"

namespace lstmc::driver {

std::optional<std::string> samplePackage(const std::string &path, const CompileRequest &options,
                                         const ModelRequest &request,
                                         const package::PackageData &trained) {
  ModelRequest single = request;
  single.entries = {"forward"};
  single.carry = {"*"};
  CompileRequest quiet = options; // with what is said of the training's own size left out
  for (const package::Entry &entry : trained.entries)
    if (entry.name == "step")
      for (const package::Binding &input : entry.inputs)
        if (input.role != "scalar") {
          if (trained.buffers[input.buffer].shape.size() != 2)
            return std::nullopt;
          single.shapes.push_back({input.name, {1, 1}, {}});
          std::erase_if(quiet.set, [&](const auto &setting) {
            return std::ranges::find(input.dims, setting.first) != input.dims.end();
          });
        }
  const CompileRequest defaults;
  quiet.batch = defaults.batch;
  quiet.shape = defaults.shape;
  quiet.entry = defaults.entry;
  quiet.mem = defaults.mem;
  Checked<Model> model = loadModel(path, quiet, single);
  if (!model.ok() || !model->compiled)
    return std::nullopt;
  return packageText(model->compiled->package);
}

/// More than that of checkpoints or validations no training has.
static int atMost(int64_t count) {
  return int(std::min<int64_t>(count, std::numeric_limits<int>::max()));
}

static void readAmounts(const TrainRequest &options, training::TrainOptions &train) {
  if (options.after)
    train.after = *options.after;
  else if (train.fit.after)
    train.after = *train.fit.after;
  train.validEvery = *options.validEvery;
  train.saveEvery = *options.saveEvery;
  train.dispEvery = *options.dispEvery;
  train.keepEvery = *options.keepEvery;
  train.checkReplicas = *options.checkReplicas;
  train.keep = atMost(*options.keep);
  train.earlyStop = atMost(*options.earlyStop);
}

Result<training::TrainOptions> trainOptions(const Model &model, const TrainRequest &options) {
  training::TrainOptions train;
  LSTMC_ASSIGN(train.fit, training::FitSettings::of(model.fit));
  readAmounts(options, train);
  LSTMC_ASSIGN(train.seed, seedInForce(model, options));
  train.folder = options.output.value_or("");
  train.resume = options.resume;
  LSTMC_ASSIGN(train.limits, fileLimits(options));
  train.overwrite = options.force;
  train.version = versionLine();
  return train;
}

Result<std::vector<std::string>> metricsAsked(const OptimizerOptions &options) {
  for (const std::string &name : *options.metric)
    LSTMC_TRY(checkMetricName(name));
  return *options.metric;
}

std::string packageText(const package::PackageData &data) {
  package::Bytes bytes = package::serialize(data);
  return {reinterpret_cast<const char *>(bytes.data()), bytes.size()};
}

} // namespace lstmc::driver
