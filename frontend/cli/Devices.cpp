// devices: what -d can name on this machine.

#include <algorithm>

#include "backends/registry/GpuFacts.h"
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

std::string levelOf(const cuda::CardFacts &card) { return fmt::format("sm_{}", card.capability); }

std::string cardText(const std::string &name, const cuda::CardFacts &card) {
  std::string rest = card.name;
  if (card.freeBytes > 0)
    rest += fmt::format(", {} free", gib(card.freeBytes));
  if (card.clock > 0)
    rest +=
        fmt::format(", {} of {} MHz, memory {} MHz", card.clock, card.mostClock, card.memoryClock);
  return rowText(name, card.memoryBytes, card.multiprocessors, levelOf(card), rest);
}

/// How each GPU reaches each other, as `nvidia-smi topo -m` has it.
std::string linkTable(const std::vector<cuda::CardFacts> &cards) {
  std::string text = fmt::format("{:<8}", "links");
  for (const cuda::CardFacts &card : cards)
    text += fmt::format(" {:>6}", fmt::format("gpu:{}", card.number));
  for (const cuda::CardFacts &card : cards) {
    text += fmt::format("\n{:<8}", fmt::format("gpu:{}", card.number));
    for (const std::string &link : card.links)
      text += fmt::format(" {:>6}", link.empty() ? "?" : link);
  }
  return text;
}

void printGpus(const GpuFacts &gpus, Console &console) {
  for (const cuda::CardFacts &card : gpus.cards)
    console.print(cardText(fmt::format("gpu:{}", card.number), card));
  if (gpus.cards.size() > 1 && !gpus.cards[0].links.empty())
    console.print(linkTable(gpus.cards));
  if (!gpus.driver.empty())
    console.print(fmt::format("driver   {}; fused programs: {}", gpus.driver, gpus.compiler));
  // Where there is a driver, what is missing is worth a line too.
  for (const GpuFacts::Library &library : gpus.libraries)
    if (!library.version.empty() || !gpus.driver.empty())
      console.print(fmt::format("{:<8} {}", library.name,
                                library.version.empty() ? library.missing : library.version));
  if (!gpus.missing.empty())
    console.print(fmt::format("gpu      cannot be used: {}", gpus.missing));
}

nlohmann::ordered_json asJson(const std::string &name, const cuda::CardFacts &card) {
  return {{"name", name},
          {"memory_bytes", card.memoryBytes},
          {"cores", card.multiprocessors},
          {"level", levelOf(card)},
          {"links", card.links},
          {"logical_devices", kMaxDevices},
          {"card", card.name},
          {"free_bytes", card.freeBytes},
          {"clock_mhz", card.clock},
          {"most_clock_mhz", card.mostClock},
          {"memory_clock_mhz", card.memoryClock}};
}

nlohmann::ordered_json asJson(const HostFacts &host, const GpuFacts &gpus,
                              const GpuFacts *emulated) {
  nlohmann::ordered_json devices = nlohmann::ordered_json::array();
  devices.push_back({{"name", "cpu:0"},
                     {"memory_bytes", host.memoryBytes},
                     {"cores", host.cores},
                     {"threads", defaultThreads()},
                     {"threads_limit", defaultThreadsText()},
                     {"level", host.level},
                     {"links", nlohmann::ordered_json::array({"memory"})},
                     {"logical_devices", kMaxDevices}});
  for (const cuda::CardFacts &card : gpus.cards)
    devices.push_back(asJson(fmt::format("gpu:{}", card.number), card));
  if (emulated)
    for (const cuda::CardFacts &card : emulated->cards) {
      devices.push_back(asJson(fmt::format("emu:{}", card.number), card));
      devices.back()["cards"] = emulated->count;
    }
  nlohmann::ordered_json libraries = nlohmann::ordered_json::array();
  for (const GpuFacts::Library &library : gpus.libraries)
    libraries.push_back(
        {{"name", library.name}, {"version", library.version}, {"missing", library.missing}});
  nlohmann::ordered_json rates = nlohmann::ordered_json::array();
  for (const KeptRates &kept : keptRates(host))
    rates.push_back({{"threads", kept.threads},
                     {"flops_per_s", kept.rates.flopsPerSecond},
                     {"stream_bytes_per_s", kept.rates.streamPerSecond},
                     {"link_s", kept.link.seconds},
                     {"link_bytes_per_s", kept.link.bytesPerSecond}});
  return {{"schema", "lstmc.devices/1"},
          {"devices", devices},
          {"gpu",
           {{"driver", gpus.driver},
            {"compiler", gpus.compiler},
            {"libraries", libraries},
            {"missing", gpus.missing}}},
          {"rates", rates}};
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
  const GpuFacts gpus = gpuFacts();
  GpuFacts emulated;
  if (options.all)
    emulated = emulatedGpuFacts();
  if (console.json()) {
    console.print(asJson(host, gpus, options.all ? &emulated : nullptr));
    return ExitCode::Ok;
  }
  printHost(host, console);
  printRates(host, console);
  printGpus(gpus, console);
  for (const cuda::CardFacts &card : emulated.cards)
    console.print(
        cardText(fmt::format("emu:{}", card.number), card) +
        fmt::format(", for correctness: its times say nothing; any of {}", emulated.count));
  if (options.all)
    console.print(std::string("trap:0   a cpu whose memory the host cannot see, for tests\n"
                              "null:0   a cpu that computes nothing, to measure the executor"));
  return ExitCode::Ok;
}

} // namespace lstmc::cli
