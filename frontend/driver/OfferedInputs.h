// Inputs by the values that a user gives them.
#pragma once

#include <string>
#include <vector>

#include "executor/base/Limits.h"
#include "executor/base/Status.h"
#include "executor/data/DataSet.h"
#include "frontend/symbol/Network.h"

namespace lstmc::driver {

/// Name, shape and type of each `-i NAME=VALUE`: of @x.npy, of the array of that name in @x.npz, of
/// 32x35xi32=0. A number has a name alone. The elements of arrays are not read. Errors are those of
/// data/Npy.h and data/Npz.h.
Result<std::vector<symbol::OfferedInput>>
inputsOfValues(const std::vector<std::string> &assignments, const lstmc::Limits &limits);

/// Name and shape of each array of the data. The number of samples stands where the batch will.
std::vector<symbol::OfferedInput> inputsOfData(const data::DataSet &data);

} // namespace lstmc::driver
