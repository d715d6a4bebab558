// Checks of the options and the result of a compilation.
#pragma once

#include <optional>
#include <vector>

#include "executor/package/Plan.h"
#include "passes/Compile.h"

namespace lstmc::passes {

/// E0402 if the devices cannot be divided evenly into replicas.
std::optional<Diagnostic> checkDevices(const CompileOptions &options);

/// Bytes that the options allow device number `device` to use.
uint64_t mayUse(const CompileOptions &options, size_t device);

/// Options with one memory-for-speed feature removed: double-buffered inputs first, then multiple
/// streams that were not requested. Nullopt if neither is enabled on any device.
std::optional<CompileOptions> withLessMemory(const CompileOptions &options);
/// Whether the memory limit of some device is below what its plan needs.
bool needsLessMemory(const package::PackageData &data, const CompileOptions &options);

/// The process of each device: its host if the machines have hosts, else its rank.
std::vector<int> processesOf(const CompileOptions &options);

/// Adds the largest buffers at the peak and their source locations as reasons. An error without a
/// location takes the first buffer's.
void addLargest(Diagnostic &error, const package::PackageData &data,
                const package::DevicePlan &plan);

/// E0402 if the package exceeds a format limit, independent of available memory: an arena beyond
/// kMaxArenaBytes, or a launch that reads more repeated elements than kMaxRepeated. Located at the
/// op's line.
std::optional<Diagnostic> checkSizes(const package::PackageData &data);

/// E0401 for each device whose plan exceeds the memory limit, at the line of its largest buffer.
/// Message buffers of processes count.
Diagnostics checkLimit(const package::PackageData &data, const CompileOptions &options);

} // namespace lstmc::passes
