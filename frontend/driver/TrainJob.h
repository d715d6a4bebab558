// A training, prepared: the network compiled, the data, memory and weights, before the first
// update.
#pragma once

#include "executor/training/Trainer.h"
#include "frontend/driver/AsyncStore.h"
#include "frontend/driver/Buckets.h"
#include "frontend/driver/Data.h"
#include "frontend/driver/Model.h"
#include "frontend/driver/Notices.h"
#include "frontend/driver/RankFiles.h"
#include "passes/planning/PackageForecast.h"

namespace lstmc::driver {

/// What is trained, on what, and how. A member may point to one before it.
struct TrainJob {
  Model model;
  ModelRequest request; ///< that the model was compiled with
  ModelData data;
  std::vector<std::string> metrics;
  training::TrainOptions options;
  std::optional<AsyncStore> async;
  std::unique_ptr<Session> session;
  std::unique_ptr<Session> second; ///< of a replay: the servers'
  Buckets buckets;                 ///< whose longest is `session`
  std::unique_ptr<training::Trainable> trainable;
  std::unique_ptr<PassingFolder> checkpoint; ///< what rank 0 has sent to go on from
  planning::PackageForecast forecast;
  std::string messages; ///< of ranks: what was measured, for `forecast`

  const package::PackageData &package() const { return model.package->data(); }
  std::vector<Session *> sessions() const {
    std::vector<Session *> all = {session.get()};
    for (const std::unique_ptr<Session> &shorter : buckets.sessions)
      all.push_back(shorter.get());
    return all;
  }
};

/// Reads and compiles all that is wanted, the data first: they offer the size of the vocabulary
/// that the net may take.
/// `request`: what is wanted of the network besides.
Checked<TrainJob> prepareTraining(const std::string &path, const TrainRequest &asked,
                                  ModelRequest request, const Notices &notices);

} // namespace lstmc::driver
