// devices: what -d can name on this machine.

#include <algorithm>

#include "backends/registry/HostFacts.h"
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

} // namespace

/// The host is one cpu:0 unless more are asked for: then so many logical devices, each with memory
/// and threads of its own, and messages through the host's memory between them.
CommandResult devicesCommand(const Options &, Console &console) {
  HostFacts host = hostFacts();
  if (console.json()) {
    nlohmann::ordered_json device = {{"name", "cpu:0"},
                                     {"memory_bytes", host.memoryBytes},
                                     {"cores", host.cores},
                                     {"level", host.level},
                                     {"links", nlohmann::ordered_json::array({"memory"})},
                                     {"logical_devices", kMaxDevices}};
    nlohmann::ordered_json devices = nlohmann::ordered_json::array();
    devices.push_back(device);
    nlohmann::ordered_json rates = nlohmann::ordered_json::array();
    for (const KeptRates &kept : keptRates(host))
      rates.push_back({{"threads", kept.threads},
                       {"flops_per_s", kept.rates.flopsPerSecond},
                       {"stream_bytes_per_s", kept.rates.streamPerSecond},
                       {"link_s", kept.link.seconds},
                       {"link_bytes_per_s", kept.link.bytesPerSecond}});
    console.print(nlohmann::ordered_json{
        {"schema", "lstmc.devices/1"}, {"devices", devices}, {"rates", rates}});
  } else {
    console.print(fmt::format("{:<8} {:>12} {:>6} {:<8} links\n{:<8} {:>12} {:>6} {:<8} memory",
                              "device", "memory", "cores", "level", "cpu:0",
                              fmt::format("{:.1f} GiB", double(host.memoryBytes) / (1 << 30)),
                              host.cores, host.level));
    int devices = std::max(2, host.cores), each = std::max(1, host.cores / devices);
    console.print(fmt::format("-d {0}xcpu makes {0} logical devices of it, cpu:0 to cpu:{1}, of "
                              "{2} {3} each; any count up to {4} does",
                              devices, devices - 1, each, each == 1 ? "thread" : "threads",
                              kMaxDevices));
    for (const KeptRates &kept : keptRates(host))
      console.print(fmt::format("measured with {} {}: {:.1f} GFLOP/s, {:.1f} GB/s from memory; a "
                                "message {:.1f} µs and {:.1f} GB/s",
                                kept.threads, kept.threads == 1 ? "thread" : "threads",
                                1e-9 * kept.rates.flopsPerSecond, 1e-9 * kept.rates.streamPerSecond,
                                1e6 * kept.link.seconds, 1e-9 * kept.link.bytesPerSecond));
  }
  return ExitCode::Ok;
}

} // namespace lstmc::cli
