// Sequences of different lengths: what a recurrence has to compute is what is real of them.
#pragma once

#include <optional>
#include <string>

#include "executor/base/Tensor.h"
#include "executor/package/PackageData.h"

namespace lstmc::planning {

/// The input by which an entry's recurrences know how many steps of each sequence are real.
struct LengthsInput {
  std::string name;
  int64_t steps; ///< at most
};

/// None where no recurrence reads such an input.
std::optional<LengthsInput> lengthsInput(const package::Entry &entry);

/// What is real of all steps, from 0 to 1: the mean of `lengths` [B], clipped as recurrences do,
/// over `steps`.
double realSteps(const Tensor &lengths, int64_t steps);

} // namespace lstmc::planning
