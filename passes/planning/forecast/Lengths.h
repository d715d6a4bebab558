// Fraction of non-padding steps in a batch of sequences of different lengths.
#pragma once

#include <optional>
#include <string>

#include "executor/base/Tensor.h"
#include "executor/package/PackageData.h"

namespace lstmc::planning {

/// The input that holds the sequence lengths of an entry's recurrences.
struct LengthsInput {
  std::string name;
  int64_t steps; ///< maximum length
};

/// Nullopt if no recurrence reads sequence lengths.
std::optional<LengthsInput> lengthsInput(const package::Entry &entry);

/// Fraction of non-padding steps, 0 to 1: the mean of `lengths` [B], clipped as in recurrences,
/// divided by `steps`.
double realSteps(const Tensor &lengths, int64_t steps);

} // namespace lstmc::planning
