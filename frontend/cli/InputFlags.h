// -i NAME=VALUE and --expect-output NAME=VALUE.
#pragma once

#include <string>

#include "executor/base/Tensor.h"
#include "executor/data/Array.h"
#include "executor/base/Status.h"

namespace lstmc::cli {

/// The value of `NAME=VALUE` for a tensor like `like`: `@x.npy`, `@x.npz` (the array of that name), `32x35xi32=0`,
/// `32x8xf32=random:7` (uniform in [0, 1), integers in [0, 2)), a number. E0610 when it has another shape or type.
Result<data::Array> inputValue(const std::string &name, const std::string &value, const Tensor &like);

/// Copies a dense array into any strides; equal shape and type.
void copyInto(const data::Array &array, const Tensor &target);

/// One element, as f64.
double elementAt(const Tensor &tensor, int64_t flatIndex);

} // namespace lstmc::cli
