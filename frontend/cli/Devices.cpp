// devices: what -d can name on this machine.

#include <algorithm>

#include "backends/registry/Accelerators.h"
#include "backends/registry/HostFacts.h"
#include "executor/base/Processors.h"
#include "executor/device/DeviceNames.h"
#include "frontend/cli/Commands.h"
#include "passes/planning/rates/MachineRates.h"

namespace lstmc::cli {

namespace {

/// What `bench --calibrate` found for devices of so many threads.
struct KeptRates {
  int threads;
  planning::MachineRates rates;
  target::Link link;
};

std::vector<KeptRates> keptRates(const HostFacts &host) {
  std::vector<KeptRates> all;
  for (int threads = 1; threads <= 2 * host.cores; ++threads)
    if (std::optional<planning::MachineRates> rates = planning::keptRates(threads))
      all.push_back({threads, *rates, planning::machineOf(threads).link});
  return all;
}

std::string gib(uint64_t bytes) { return fmt::format("{:.1f} GiB", double(bytes) / (1 << 30)); }

std::string rowText(std::string_view name, uint64_t memory, int cores, std::string_view level,
                    std::string_view rest) {
  return fmt::format("{:<8} {:>12} {:>6} {:<8} {}", name, gib(memory), cores, level, rest);
}

std::string rowText(const Accelerator &device) {
  std::string rest = device.model;
  for (const std::string &note : device.notes)
    rest += ", " + note;
  return rowText(device.name, device.memoryBytes, device.cores, device.level, rest);
}

/// How each device reaches each other.
std::string linkTable(const std::vector<Accelerator> &devices) {
  std::string text = fmt::format("{:<8}", "links");
  for (const Accelerator &device : devices)
    text += fmt::format(" {:>6}", device.name);
  for (const Accelerator &device : devices) {
    text += fmt::format("\n{:<8}", device.name);
    for (const std::string &link : device.links)
      text += fmt::format(" {:>6}", link.empty() ? "?" : link);
  }
  return text;
}

void print(const Accelerators &found, Console &console) {
  for (const Accelerator &device : found.devices)
    console.print(rowText(device));
  if (found.devices.size() > 1 && !found.devices[0].links.empty())
    console.print(linkTable(found.devices));
  if (!found.driver.empty())
    console.print(fmt::format("driver   {}; fused programs: {}", found.driver, found.compiler));
  // Where there is a driver, what is missing is worth a line too.
  for (const Accelerators::Library &library : found.libraries)
    if (!library.version.empty() || !found.driver.empty())
      console.print(fmt::format("{:<8} {}", library.name,
                                library.version.empty() ? library.missing : library.version));
  if (!found.missing.empty())
    console.print(fmt::format("{:<8} cannot be used: {}", found.kind, found.missing));
}

nlohmann::ordered_json asJson(const Accelerator &device) {
  nlohmann::ordered_json row = {{"name", device.name},   {"memory_bytes", device.memoryBytes},
                                {"cores", device.cores}, {"level", device.level},
                                {"links", device.links}, {"logical_devices", kMaxDevices},
                                {"card", device.model}};
  for (const auto &[name, value] : device.figures)
    row[name] = value;
  return row;
}

nlohmann::ordered_json softwareOf(const Accelerators &found) {
  nlohmann::ordered_json libraries = nlohmann::ordered_json::array();
  for (const Accelerators::Library &library : found.libraries)
    libraries.push_back(
        {{"name", library.name}, {"version", library.version}, {"missing", library.missing}});
  return {{"driver", found.driver},
          {"compiler", found.compiler},
          {"libraries", libraries},
          {"missing", found.missing}};
}

nlohmann::ordered_json asJson(const HostFacts &host, const std::vector<Accelerators> &here,
                              const std::vector<Accelerators> &emulated) {
  nlohmann::ordered_json devices = nlohmann::ordered_json::array();
  devices.push_back({{"name", "cpu:0"},
                     {"memory_bytes", host.memoryBytes},
                     {"cores", host.cores},
                     {"threads", defaultThreads()},
                     {"threads_limit", defaultThreadsText()},
                     {"level", host.level},
                     {"links", nlohmann::ordered_json::array({"memory"})},
                     {"logical_devices", kMaxDevices}});
  for (const Accelerators &found : here)
    for (const Accelerator &device : found.devices)
      devices.push_back(asJson(device));
  for (const Accelerators &found : emulated)
    for (const Accelerator &device : found.devices) {
      devices.push_back(asJson(device));
      devices.back()["cards"] = found.count;
    }
  nlohmann::ordered_json rates = nlohmann::ordered_json::array();
  for (const KeptRates &kept : keptRates(host))
    rates.push_back({{"threads", kept.threads},
                     {"flops_per_s", kept.rates.flopsPerSecond},
                     {"stream_bytes_per_s", kept.rates.streamPerSecond},
                     {"link_s", kept.link.seconds},
                     {"link_bytes_per_s", kept.link.bytesPerSecond}});
  nlohmann::ordered_json document = {{"schema", "lstmc.devices/1"}, {"devices", devices}};
  for (const Accelerators &found : here)
    document[found.kind] = softwareOf(found);
  document["rates"] = rates;
  return document;
}

void printHost(const HostFacts &host, Console &console) {
  console.print(
      fmt::format("{:<8} {:>12} {:>6} {:<8} links", "device", "memory", "cores", "level"));
  console.print(rowText("cpu:0", host.memoryBytes, host.cores, host.level, "memory"));
}

void printRates(const HostFacts &host, Console &console) {
  int devices = std::max(2, host.cores), each = std::max(1, host.cores / devices);
  console.print(fmt::format("-d {0}xcpu makes {0} logical devices of it, cpu:0 to cpu:{1}, of {2} "
                            "{3} each; any count up to {4} does",
                            devices, devices - 1, each, each == 1 ? "thread" : "threads",
                            kMaxDevices));
  console.print(defaultThreadsText());
  for (const KeptRates &kept : keptRates(host))
    console.print(fmt::format("measured with {} {}: {:.1f} GFLOP/s, {:.1f} GB/s from memory; a "
                              "message {:.1f} µs and {:.1f} GB/s",
                              kept.threads, kept.threads == 1 ? "thread" : "threads",
                              1e-9 * kept.rates.flopsPerSecond, 1e-9 * kept.rates.streamPerSecond,
                              1e6 * kept.link.seconds, 1e-9 * kept.link.bytesPerSecond));
}

} // namespace

/// The host is one cpu:0 unless more are asked for: then so many logical devices, each with memory
/// and threads of its own, and messages through the host's memory between them.
CommandResult devicesCommand(const Options &options, Console &console) {
  const HostFacts host = hostFacts();
  const std::vector<Accelerators> here = accelerators();
  std::vector<Accelerators> emulated;
  if (options.all)
    emulated = emulatedAccelerators();
  if (console.json()) {
    console.print(asJson(host, here, emulated));
    return ExitCode::Ok;
  }
  printHost(host, console);
  printRates(host, console);
  for (const Accelerators &found : here)
    print(found, console);
  for (const Accelerators &found : emulated)
    print(found, console);
  if (options.all)
    console.print(std::string("trap:0   a cpu whose memory the host cannot see, for tests\n"
                              "null:0   a cpu that computes nothing, to measure the executor"));
  return ExitCode::Ok;
}

} // namespace lstmc::cli
