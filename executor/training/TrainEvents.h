// What happens while training, for whoever shows or logs it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "executor/base/Status.h"
#include "executor/training/Amount.h"
#include "executor/training/Trainable.h"

namespace lstmc::training {

struct StartEvent {
  Progress progress; ///< not at zero when resumed
  uint64_t seed = 0;
  std::string net, graphHash;
  int64_t parameters = 0; ///< elements
  int64_t batch = 0;      ///< sequences in a batch
  uint32_t shards = 0;
  std::string numerics;
  std::string resumedFrom;  ///< folder, or empty
  std::string leftOut;      ///< data that no update of an epoch sees, in words, or empty
  std::string validLeftOut; ///< the same of a validation
};

/// Means since the last line of the log.
struct UpdateEvent {
  Progress progress;
  const MetricTotals *measured = nullptr; ///< of this update alone; good during the call
  std::optional<double> loss, perplexity;
  std::vector<std::pair<std::string, double>> metrics; ///< those asked for that `step` measures
  std::optional<double> gradientNorm;                  ///< of this update, before clipping
  std::span<const NamedNorm> gradientNorms; ///< the same, of each parameter; good during the call
  double learningRate = 0;                  ///< the schedule's
  double lossScale = 1;
  int64_t labels = 0;                                      ///< since the last line
  std::optional<double> labelsPerSecond, samplesPerSecond; ///< none of emulated GPUs
  double inputSeconds = 0; ///< since the last line, in which the step waited for its input
  double inputShare = 0;   ///< of the time since the last line
  double secondsLeft = 0;
  double share = 0; ///< of the whole run, 0 to 1
};

struct ValidEvent {
  Progress progress;
  std::optional<double> loss, perplexity;
  std::vector<std::pair<std::string, double>> metrics;
  bool best = false;
};

struct SaveEvent {
  Progress progress;
  std::string path;
  uint64_t bytes = 0;
  std::string sha256;
  bool best = false;
};

enum class EndReason { Done, Signal, EarlyStop, Error, Stopped };
/// "done", "signal", "early-stop", "error", "stopped"
std::string_view endReasonName(EndReason reason);

struct EndEvent {
  Progress progress;
  EndReason reason = EndReason::Done;
  int signal = 0;
  std::optional<double> loss, bestLoss; ///< of the last and the best validation
  std::string weightsHash;
  std::string lastCheckpoint; ///< folder, or empty
  std::string failedUpdate;   ///< folder of the update that met E0701 (FailedUpdate.h), or empty
  int64_t bestUpdate = 0;     ///< of the best validation
};

/// Called in the thread of the loop.
class TrainObserver {
public:
  virtual ~TrainObserver() = default;
  virtual void start(const StartEvent &) {}
  /// After every update, for a live line; means so far since the last `update`.
  virtual void tick(const UpdateEvent &) {}
  /// Every `dispEvery`.
  virtual void update(const UpdateEvent &) {}
  virtual void valid(const ValidEvent &) {}
  virtual void save(const SaveEvent &) {}
  /// A save failed, a checkpoint was passed over: training goes on.
  virtual void warning(const Error &) {}
  virtual void end(const EndEvent &) {}
};

} // namespace lstmc::training
