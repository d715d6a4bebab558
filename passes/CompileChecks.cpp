#include "passes/CompileChecks.h"

#include <algorithm>

#include <fmt/ranges.h>

#include "backends/registry/Targets.h"
#include "executor/abi/Sizes.h"
#include "executor/base/NumberText.h"
#include "executor/package/Check.h"
#include "executor/package/MessageMemory.h"
#include "executor/package/Package.h"
#include "executor/package/Plan.h"

namespace lstmc::passes {

static std::string describe(const package::Buffer &buffer) {
  return fmt::format("{} ({}), {}[{}], {}", buffer.name, package::kKindNames[size_t(buffer.kind)],
                     dtypeLongName(buffer.dtype), fmt::join(buffer.shape, ", "),
                     bytesText(buffer.bytes, 2));
}

/// "step, lstm0": the entry, and the op's name if it has one.
static std::string momentOf(const package::PackageData &data, const package::DevicePlan &plan) {
  std::optional<package::PeakLaunch> at = package::launchAtPeak(data, plan);
  if (!at)
    return "always";
  return at->entry + ", " + (at->op.empty() ? at->kernel : at->op);
}

uint64_t mayUse(const CompileOptions &options, size_t device) {
  uint64_t bytes = options.memoryLimit.value_or(~uint64_t(0));
  return options.deviceMemory.empty() ? bytes : std::min(bytes, options.deviceMemory[device]);
}

std::optional<CompileOptions> withLessMemory(const CompileOptions &options) {
  CompileOptions less = options;
  if (options.nextInputs && !std::ranges::all_of(options.devices, [](const std::string &device) {
        return package::hostSees(device);
      }))
    less.nextInputs = false;
  else if (!options.streams && std::ranges::any_of(options.devices, [](const std::string &device) {
             return targetOf(device).streams() > 1;
           }))
    less.streams = 1;
  else
    return std::nullopt;
  return less;
}

bool needsLessMemory(const package::PackageData &data, const CompileOptions &options) {
  for (size_t device = 0; device < data.devices.size(); ++device)
    if (data.devices[device].arenaBytes > mayUse(options, device))
      return true;
  return false;
}

std::vector<int> processesOf(const CompileOptions &options) {
  const target::Machines &machines = options.machines;
  const size_t count = options.devices.size();
  if (machines.empty() || machines.front().host < 0)
    return package::processesOf(count, options.ranks);
  std::vector<int> processes;
  for (size_t device = 0; device < count; ++device)
    processes.push_back(machines[std::min(device, machines.size() - 1)].host);
  return processes;
}

/// "between 2 ranks"
static std::string messagesText(const CompileOptions &options) {
  if (options.ranks > 1)
    return fmt::format("between {} ranks", options.ranks);
  return options.machines.size() > 1 && options.machines.front().host >= 0
             ? "between hosts"
             : "that the host copies from device to device";
}

void addLargest(Diagnostic &error, const package::PackageData &data,
                const package::DevicePlan &plan) {
  for (uint32_t index : plan.largest) {
    const package::Buffer &buffer = data.buffers[index];
    const package::Location &location = data.locations[buffer.location];
    SourceRange place = package::rangeOf(location);
    if (error.place.line == 0)
      error.place = place;
    std::string at = place.line ? fmt::format(" at {}:{}:{}", place.file, place.line, place.column)
                                : std::string();
    for (const std::string &note : location.notes)
      at.append(", ").append(note);
    std::string before = error.reasons.empty()
                             ? fmt::format("largest at the peak ({}): ", momentOf(data, plan))
                             : "then ";
    error.reasons.push_back({fmt::format("{}{}{}", before, describe(buffer), at), place});
  }
}

Diagnostics checkLimit(const package::PackageData &data, const CompileOptions &options) {
  Diagnostics errors;
  const uint64_t limit = *options.memoryLimit;
  const std::vector<int> processes = processesOf(options);
  const std::vector<package::DevicePlan> plans = package::planOf(data, 3);
  for (size_t device = 0; device < plans.size(); ++device) {
    const package::DevicePlan &plan = plans[device];
    const uint64_t messages =
        package::hostSees(data.devices[device])
            ? package::messageBytes(data, uint32_t(device), {.processes = processes})
            : 0;
    if (plan.arenaBytes + messages <= limit)
      continue;
    Diagnostic error;
    error.code = ErrorCode::E0401;
    error.message =
        fmt::format("the plan needs {} on {}, which may use {}",
                    bytesText(plan.arenaBytes + messages, 2), plan.device, bytesText(limit, 2));
    if (messages > 0)
      error.message += fmt::format("; {} of it are for messages {}", bytesText(messages, 2),
                                   messagesText(options));
    addLargest(error, data, plan);
    errors.push_back(std::move(error));
  }
  return errors;
}

static std::optional<Diagnostic> checkRepeated(const package::PackageData &data,
                                               const package::Launch &launch) {
  for (const package::Operand &operand : launch.operands) {
    if (operand.buffer == package::kNoBuffer)
      continue;
    const package::Buffer &buffer = data.buffers[operand.buffer];
    int64_t elements = 1;
    for (int64_t extent : operand.shape)
      elements = product({elements, extent});
    const uint64_t most = std::max(package::kMaxRepeated, data.devices[buffer.device].arenaBytes);
    if (uint64_t(elements) <= most)
      continue;
    const package::Location &location = data.locations[launch.location];
    Diagnostic error;
    error.code = ErrorCode::E0402;
    error.place = package::rangeOf(location);
    error.message =
        fmt::format("{} reads [{}], {} elements repeated from {}, and at most {} can be planned",
                    location.op.empty() ? kernelRecord(launch.kernel).name : location.op,
                    fmt::join(operand.shape, ", "), elements, buffer.elements(), most);
    return error;
  }
  return std::nullopt;
}

std::optional<Diagnostic> checkSizes(const package::PackageData &data) {
  for (size_t device = 0; device < data.devices.size(); ++device)
    if (data.devices[device].arenaBytes > kMaxArenaBytes) {
      const package::DevicePlan plan = package::planOf(data, 3)[device];
      Diagnostic error;
      error.code = ErrorCode::E0402;
      error.message =
          fmt::format("the plan needs {} on {}, and at most {} can be planned",
                      bytesText(plan.arenaBytes, 2), plan.device, bytesText(kMaxArenaBytes, 2));
      addLargest(error, data, plan);
      return error;
    }
  for (const package::Entry &entry : data.entries)
    for (const package::DeviceProgram &program : entry.programs)
      for (const package::Launch &launch : program.launches)
        if (std::optional<Diagnostic> error = checkRepeated(data, launch))
          return error;
  return std::nullopt;
}

std::optional<Diagnostic> checkDevices(const CompileOptions &options) {
  if (options.stages == 0 && options.place.empty())
    return std::nullopt; // the search considers only layouts that divide evenly
  auto devices = int64_t(options.devices.size()), each = options.devicesPerReplica();
  Diagnostic error;
  error.code = ErrorCode::E0402;
  if (each > devices || devices % each != 0)
    error.message = fmt::format("{} devices cannot be replicas of {} devices each", devices, each);
  else if (!options.workLoads.empty() && int64_t(options.workLoads.size()) != devices / each)
    error.message = fmt::format("work loads are for {} replicas, and there are {}",
                                options.workLoads.size(), devices / each);
  else
    return std::nullopt;
  return error;
}

} // namespace lstmc::passes
