// Keys of fit(..) that the update of an optimizer does not read, with the other keys as they are.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "executor/abi/Optimizers.h"
#include "executor/package/PackageData.h"

namespace lstmc::driver {

struct IdleKey {
  std::string_view name;
  std::string why;
};

/// Those of `fit` that have another value than their default: gamma2 of rmsprop without centered,
/// the rate of adadelta, a bound on the norm of gradients of which only the sign is used.
std::vector<IdleKey> idleKeys(const Optimizer &row, const std::vector<package::Setting> &fit);

} // namespace lstmc::driver
