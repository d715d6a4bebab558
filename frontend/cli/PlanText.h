// The memory plan in words: a line, a table, JSON.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "executor/package/PackageData.h"
#include "passes/Compile.h"

namespace lstmc::cli {

/// "44.5 MiB", "1.89 GiB"
std::string mebibytes(uint64_t bytes);

/// "plan      cpu:0 44.5 MiB of 24.0 GiB: weights 4.1, ... · fits"
std::string planLine(const package::PackageData &data, uint64_t mayUse);

/// "rows      cpu:0 24 of 32 (6 of 8 shards), cpu:1 8 (2)" with what --work-load-list asked for; "" for one device.
std::string sharesLine(const std::vector<passes::BatchShare> &shares, std::string_view asked);

/// A row per device: peak and what it consists of, its moment, the largest tensor with its line.
std::string planTable(const package::PackageData &data);

/// lstmc.plan/1
nlohmann::ordered_json planJson(const package::PackageData &data);

} // namespace lstmc::cli
