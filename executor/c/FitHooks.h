// Tells the caller's hooks what happens in a training.
#pragma once

#include <optional>
#include <vector>

#include "executor/c/TrainHandles.h"
#include "executor/training/TrainEvents.h"

namespace lstmc::c {

/// The caller's hooks; `given` may be null. E0001 for a struct of another version.
Result<lstmc_fit_hooks> checkedHooks(const lstmc_fit_hooks *given);

class HookObserver : public training::TrainObserver {
public:
  /// `keepBest`: the model whose weights of the best validation are kept in memory, or null.
  HookObserver(const lstmc_fit_hooks &hooks, training::Trainable *keepBest)
      : hooks_(hooks), model_(keepBest) {}

  /// Whether a hook has said so.
  bool stops();

  void start(const training::StartEvent &event) override { progress_ = event.progress; }
  void tick(const training::UpdateEvent &event) override;
  void update(const training::UpdateEvent &event) override;
  void valid(const training::ValidEvent &event) override;
  void save(const training::SaveEvent &event) override;
  void warning(const Error &error) override;

  /// The loss of the last epoch, or of the part of one.
  double epochLoss() const { return epochLoss_; }
  /// Gives the model the weights that it had at the best validation of this run; false if there was
  /// none.
  bool putBackBest();

private:
  void keepBest();

  lstmc_fit_hooks hooks_;
  training::Trainable *model_;
  training::Progress progress_; ///< of the update before
  std::optional<training::MetricTotals> epoch_;
  double epochLoss_ = 0;
  std::vector<std::vector<std::byte>> best_;
  bool stops_ = false;
};

} // namespace lstmc::c
