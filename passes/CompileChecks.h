// What a compilation is refused for by its options and its result alone.
#pragma once

#include <optional>
#include <vector>

#include "executor/package/Plan.h"
#include "passes/Compile.h"

namespace lstmc::passes {

/// E0402 where the devices are not replicas of equally many.
std::optional<Diagnostic> checkDevices(const CompileOptions &options);

/// Bytes that a device may use by the options, given by its number.
uint64_t mayUse(const CompileOptions &options, size_t device);

/// The same without the first of what takes memory for speed alone: second places of inputs, and
/// several streams that nobody asked for. None where there is neither on any device.
std::optional<CompileOptions> withLessMemory(const CompileOptions &options);
/// Whether a device may use less than its plan needs.
bool needsLessMemory(const package::PackageData &data, const CompileOptions &options);

/// The process of each device: its host where machines have some, else its rank.
std::vector<int> processesOf(const CompileOptions &options);

/// Adds the largest buffers at the peak, with where they come from, as reasons; the place of the
/// first is that of an error without one.
void addLargest(Diagnostic &error, const package::PackageData &data,
                const package::DevicePlan &plan);

/// E0402 for what a package may not hold, whatever memory there is: an arena beyond
/// kMaxArenaBytes, and a launch that reads so many repeated elements as no package may
/// (kMaxRepeated), at the line of its op.
std::optional<Diagnostic> checkSizes(const package::PackageData &data);

/// E0401 for each device whose plan needs more than the memory limit, at the line of the largest
/// buffer. What processes need for their messages counts.
Diagnostics checkLimit(const package::PackageData &data, const CompileOptions &options);

} // namespace lstmc::passes
