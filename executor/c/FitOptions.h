// The options of a training, as the C interface takes them: checked, and as the loop has them.
#pragma once

#include "executor/c/TrainHandles.h"
#include "executor/training/Trainer.h"

namespace lstmc::c {

/// The caller's options, which may be null, over what the package says. E0001 for what makes no
/// sense, what this version does not know, and metrics that the network does not measure.
Result<lstmc_fit_options> checkedOptions(const lstmc_fit_options *given);
Result<training::TrainOptions> trainOptions(const lstmc_trainer &trainer,
                                            const lstmc_fit_options &given);

/// The names of a list; E0001 for one that no head of the network measures.
Result<std::vector<std::string>> metricsNamed(const lstmc_trainer &trainer, const char *list);

} // namespace lstmc::c
