// The memory plan in words: a line, a table, JSON.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "executor/package/PackageData.h"

namespace lstmc::cli {

/// "44.5 MiB", "1.89 GiB"
std::string mebibytes(uint64_t bytes);

/// "plan      cpu:0 44.5 MiB of 24.0 GiB: weights 4.1, ... · fits"
std::string planLine(const package::PackageData &data, uint64_t mayUse);

/// A row per device: peak and what it consists of, its moment, the largest tensor with its line.
std::string planTable(const package::PackageData &data);

/// lstmc.plan/1
nlohmann::ordered_json planJson(const package::PackageData &data);

} // namespace lstmc::cli
