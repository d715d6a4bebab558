// What is real of the steps of data whose sequences have lengths, for forecasts.
#pragma once

#include "executor/data/DataSet.h"
#include "executor/package/PackageData.h"
#include "frontend/driver/Data.h"

namespace lstmc::driver {

/// From 0 to 1, over the first batches of training; 1 where the network has no lengths. Errors are
/// those of the data.
Result<double> realSteps(const package::PackageData &data, const data::DataSet &set, uint64_t seed);

/// The same of --data, or of what the model names where that can be read; 1 where there are none.
Checked<double> realSteps(const package::PackageData &data, const std::string &path,
                          const RunRequest &options, const DataUse &use);

} // namespace lstmc::driver
