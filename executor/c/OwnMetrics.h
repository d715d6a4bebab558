// Metrics of the program's own, of the outputs that `forward` has for the batches of a validation.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "executor/c/TrainHandles.h"
#include "executor/training/Evaluate.h"
#include "executor/training/KeptStates.h"

/// Handed to a metric for each batch.
struct lstmc_measured {
  lstmc::Session *session;
  std::vector<std::pair<std::string, lstmc::data::Array>> inputs; ///< of `evaluate`, dense
  int64_t rows = 0;
};

namespace lstmc::c {

class OwnMetrics : public training::OwnMetrics {
public:
  /// `metrics` outlive it. E0001 for one without a name or a function, a name that a metric has,
  /// and for a network without `forward`.
  static Result<std::unique_ptr<OwnMetrics>> create(lstmc_trainer &trainer,
                                                    std::span<const lstmc_own_metric> metrics);

  void begin() override;
  Status filled() override;
  /// Runs `forward` from the states that `evaluate` had, and puts back those after it.
  Status measured(int64_t rows) override;
  std::vector<std::pair<std::string, double>> values() override;

private:
  OwnMetrics(lstmc_trainer &trainer, std::span<const lstmc_own_metric> metrics,
             std::vector<data::InputSlot> from, std::vector<data::InputSlot> to)
      : metrics_(metrics), from_(std::move(from)), to_(std::move(to)),
        before_(trainer.model->states()), after_(trainer.model->states()) {
    batch_.session = trainer.session->session.get();
  }

  std::span<const lstmc_own_metric> metrics_;
  std::vector<data::InputSlot> from_, to_; ///< inputs of `evaluate` and of `forward`
  training::KeptStates before_, after_;
  lstmc_measured batch_;
};

} // namespace lstmc::c
