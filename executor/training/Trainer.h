// The loop around a compiled step.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "executor/data/DataSet.h"
#include "executor/training/CheckpointWriter.h"
#include "executor/training/Evaluate.h"
#include "executor/training/FitSettings.h"
#include "executor/training/TrainEvents.h"
#include "executor/training/Trainable.h"

namespace lstmc::training {

struct TrainOptions {
  FitSettings fit;
  Amount after{1, Amount::Unit::Epochs};
  Amount validEvery{1, Amount::Unit::Epochs};
  Amount saveEvery{1, Amount::Unit::Epochs};
  Amount dispEvery{50, Amount::Unit::Updates};
  int keep = 3;
  int64_t keepEvery = 0;            ///< as CheckpointWriter::Options
  int64_t checkReplicas = 0;        ///< updates from one comparison to the next; 0: none
  std::vector<std::string> metrics; ///< of validations, beside those that are shown unasked
  int earlyStop = 0;                ///< validations without a better one; 0: never
  std::string judge = "loss";       ///< by which a validation is better: a metric, or one of `own`
  bool largerIsBetter = false;
  double minDelta = 0;       ///< by how much it has to be better
  OwnMetrics *own = nullptr; ///< of one process
  uint64_t seed = 0;
  std::string folder; ///< of checkpoints; empty: none are written
  bool resume = false;
  bool overwrite = false;
  Limits limits;       ///< of the checkpoint that it resumes
  std::string version; ///< of lstmc, for the manifest
  /// Files that go into every checkpoint beside vocab.txt, as the package.
  std::vector<std::pair<std::string, std::string>> attachments;
  /// Asked before every batch of the last validation, which ends where it says so; empty: never.
  /// Of one process. Validations that are due run to their end, for what a resumed run does hangs
  /// on them.
  std::function<bool()> interrupted;
  bool signals = true; ///< a signal ends the training; else they are left to the program
  /// Asked before every update; where it says so, the training ends with a checkpoint. Empty:
  /// never.
  std::function<bool()> stop;
  CheckpointState *reached = nullptr; ///< gets what a checkpoint at the end says
  FaultHook fault;                    ///< of tests
};

/// Trains until `after`, a signal, an early stop or an error.
///
/// `data` is the training data set (its Train part if the spec keeps a part back, else all of it);
/// `valid` another one, or null: then data's Valid part, if there is one. The model's parameters
/// are initialised by the caller; with `resume` the newest good checkpoint replaces them.
///
/// An update: fill the inputs, run `step` with learning_rate, update and seed, add up what the
/// heads measured. Then, in this order and where due: comparison of replicas (E0702), line,
/// validation, save (also when a validation was the best). The end validates and saves once more.
/// Everything but `seconds` and rates is a function of model, data, seed and the update alone, so a
/// resumed run logs and ends with the same bits.
///
/// Errors: those of data::DataSet::feed and checkpoints; the step's own (E0701) pass through.
/// After an error no checkpoint is saved; the update that met E0701 is kept as `nan-UPDATE`. A
/// failed save is a warning, but for the last one, which is returned.
Result<EndEvent> train(Trainable &model, const data::DataSet &data, const data::DataSet *valid,
                       const TrainOptions &options, TrainObserver &observer);

/// What eval and train's validation run on: the Valid part if the spec keeps one back, else all.
data::Part validationPart(const data::DataSet &data);

} // namespace lstmc::training
