// The memory plan in words: a line, a table, JSON.
#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "executor/base/NumberText.h"
#include "executor/package/PackageData.h"
#include "passes/Compile.h"
#include "passes/planning/PackageForecast.h"

namespace lstmc::cli {

/// "plan      cpu:0 44.5 MiB of 24.0 GiB: weights 4.1, ... · fits", with what messages between so
/// many ranks take.
std::string planLine(const package::PackageData &data, uint64_t mayUse, int64_t ranks);

/// "messages  cpu:0 1.2 MiB, cpu:1 1.2 MiB": what they take beside the arenas; "" for one process.
std::string messagesLine(const package::PackageData &data, const std::vector<int> &processes);

/// "rows      cpu:0 24 of 32 (6 of 8 shards), cpu:1 8 (2)" with what --work-load-list asked for; ""
///            for one device.
std::string sharesLine(const std::vector<passes::BatchShare> &shares,
                       const std::vector<int64_t> &asked);

/// The ways to share the devices out that were weighed, a line each, the one taken first; `most` of
/// them.
std::string layoutsText(const std::vector<passes::Layout> &layouts, size_t most = 20);
nlohmann::ordered_json layoutsJson(const std::vector<passes::Layout> &layouts);

/// "forecast  update 131 ms, forward 40.2 ms; 1.9 times as fast as one device; sends 4.1 MiB; idle
///            cpu:0 3 %, cpu:1 5 % · by ..."; without times where a device is an emulated GPU.
std::string forecastLine(const package::PackageData &data,
                         const planning::PackageForecast &forecast);

/// "forecast  update 131 ms, measured 128 ms (+2 %)"; `what`: update or forward. In seconds.
std::string besideMeasured(std::string_view what, double forecast, double measured);

/// A line per recurrent layer: the way in which it is carried out; "" where no device has several.
///
///     recurrence gpu:0 lstm0 forward: on chip, 8 clusters of 8 blocks, 4 sequences each, W
///                through the cache, 1.91 us a step
/// What drivers take beside the plan; empty if they take nothing.
std::string driverText(const package::PackageData &data,
                       const std::vector<target::DriverBytes> &driver);
std::string waysText(const package::PackageData &data, const std::vector<planning::LayerWay> &ways);

/// A row per device: what it may use, where that is known, peak and what it consists of, its
/// moment, the largest tensor with its line; below a row that does not fit, by how much.
std::string planTable(const package::PackageData &data,
                      const planning::Capacities &capacities = {});

/// The rows again, as records of a table.
std::vector<std::vector<std::string>> planRows(const package::PackageData &data,
                                               const planning::Capacities &capacities);

/// lstmc.plan/1. What is not known is left out, or null. Where a device is an emulated GPU it has
/// "emulated": true and no forecast of times; `recurrences` are then those of the card that is
/// emulated.
nlohmann::ordered_json planJson(const package::PackageData &data,
                                const planning::PackageForecast *forecast = nullptr,
                                const planning::Capacities &capacities = {});

} // namespace lstmc::cli
