#include "passes/planning/rates/MachineRates.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>

#include <nlohmann/json.hpp>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backends/registry/GpuMachine.h"
#include "backends/registry/HostFacts.h"
#include "backends/registry/HostRates.h"
#include "backends/registry/Targets.h"
#include "executor/base/CacheFolder.h"
#include "executor/base/InputFile.h"
#include "executor/base/Processors.h"
#include "executor/base/Threads.h"
#include "executor/device/DeviceKinds.h"
#include "passes/planning/rates/Calibration.h"
#include "passes/planning/rates/GpuCalibration.h"

namespace lstmc::planning {

using Json = nlohmann::ordered_json;

static constexpr const char *kCacheFile = "machine.json";

static std::filesystem::path cacheFile() {
  const std::filesystem::path folder = cacheFolder();
  return folder.empty() ? folder : folder / kCacheFile;
}

/// Measurements of another processor or instruction set do not apply to this one.
static std::string keyOf(int threads) {
  HostFacts host = hostFacts();
  return fmt::format("{}, {}, {} threads", host.processor, host.level, threads);
}

/// The contents of LSTMC_RATES, else of the file.
static Json kept() {
  std::string text;
  if (const char *given = std::getenv("LSTMC_RATES"))
    text = given;
  else if (Result<Bytes> bytes = readFileBeneath(cacheFolder(), kCacheFile); bytes.ok())
    text = asText(*bytes);
  Json document = Json::parse(text, nullptr, false);
  bool good = document.is_object() && document.value("schema", "") == "lstmc.machine/1" &&
              document["rates"].is_object();
  return good ? document : Json{{"schema", "lstmc.machine/1"}, {"rates", Json::object()}};
}

/// {"product": {"launch": seconds, ...}, ...}, zeros omitted.
static Json kernelsJson(const target::Machine &machine) {
  Json kernels = Json::object();
  std::span<const target::FigureName> names = targetOf(DeviceKind::Cpu).figureNames();
  for (size_t i = 0; i < names.size(); ++i) {
    Json &terms = kernels.emplace(std::string(names[i].kernel), Json::object()).first.value();
    if (double seconds = machine.figures[i]; seconds > 0)
      terms[std::string(names[i].term)] = seconds;
  }
  return kernels;
}

static Json linkJson(const target::Link &link) {
  return {{"seconds", link.seconds}, {"bytes_per_s", link.bytesPerSecond}};
}

static bool readLink(const Json &document, target::Link &link) {
  for (auto [name, to] :
       {std::pair{"seconds", &link.seconds}, std::pair{"bytes_per_s", &link.bytesPerSecond}}) {
    if (!document.is_object() || !document.contains(name) || !document[name].is_number() ||
        !(double(document[name]) > 0))
      return false;
    *to = document[name];
  }
  return true;
}

/// False if a kernel or a number is missing: written by another version, and measured again.
static bool readKernels(const Json &kernels, target::Machine &machine) {
  if (!kernels.is_object())
    return false;
  for (const target::FigureName &name : targetOf(DeviceKind::Cpu).figureNames()) {
    auto terms = kernels.find(std::string(name.kernel));
    if (terms == kernels.end() || !terms->is_object())
      return false;
    auto term = terms->find(std::string(name.term));
    double seconds = term == terms->end() ? 0 : term->is_number() ? double(*term) : -1;
    if (!(seconds >= 0) || seconds > 1)
      return false;
    machine.figures.push_back(seconds);
  }
  return true;
}

double MachineRates::limitSeconds(double flops, double weightBytes, bool f64) const {
  return std::max(flops / (f64 ? flopsPerSecond / 2 : flopsPerSecond),
                  weightBytes / streamPerSecond);
}

static Status keep(const Json &document) {
  std::error_code error;
  std::filesystem::create_directories(cacheFile().parent_path(), error);
  const std::string text = document.dump(1) + "\n";
  const std::string_view texts[] = {text};
  return keepInCache(cacheFolder(), kCacheFile, texts);
}

static Json rowOf(const target::Machine &machine) {
  return {{"kernels", kernelsJson(machine)},
          {"call_s", machine.callSeconds},
          {"link", linkJson(machine.link)}};
}

Status calibrate(const std::set<int> &threadCounts) try {
  Json document = kept();
  for (int threads : threadCounts) {
    MachineRates rates{hostMultiplyAddRate(threads), hostStreamRate(threads)};
    LSTMC_ASSIGN(target::Machine machine, measureMachine(threads));
    Json row = {{"flops_per_s", rates.flopsPerSecond},
                {"stream_bytes_per_s", rates.streamPerSecond}};
    row.update(rowOf(machine));
    document["rates"][keyOf(threads)] = row;
  }
  return keep(document);
} catch (const std::system_error &error) {
  return noThread(fmt::format("up to {} threads to calibrate with", *threadCounts.rbegin()), error);
}

/// Whether a file can be created in the cache's folder; creates the folder if necessary.
static bool canKeep() {
  if (cacheFile().empty())
    return false;
  std::error_code error;
  std::filesystem::create_directories(cacheFile().parent_path(), error);
  return ::access(cacheFile().parent_path().c_str(), W_OK) == 0;
}

static Status measureAll(const std::set<int> &threadCounts) {
  Json document = kept();
  for (int threads : threadCounts) {
    LSTMC_ASSIGN(target::Machine machine, measureMachine(threads, Effort::ASecond));
    document["rates"][keyOf(threads)] = rowOf(machine);
  }
  return keep(document);
}

std::optional<Measured> measureIfNew(const std::set<int> &threadCounts) {
  std::set<int> missing;
  for (int threads : threadCounts)
    if (machineOf(threads).measuredThreads == 0)
      missing.insert(threads);
  if (missing.empty() || !canKeep())
    return std::nullopt;
  auto begin = std::chrono::steady_clock::now();
  // In a child process, so that its memory does not count as this one's.
  const pid_t parent = ::getpid(), child = ::fork();
  if (child == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::_exit(::getppid() == parent && measureAll(missing).ok() ? 0 : 1);
  }
  int status = 1;
  while (child > 0 && ::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  if (child <= 0 || status != 0)
    return std::nullopt;
  return Measured{seconds, cacheFile().string()};
}

std::string keptRatesText() {
  Json document = kept(), rates = Json::object();
  const HostFacts host = hostFacts();
  const std::string prefix = fmt::format("{}, {}, ", host.processor, host.level);
  for (const auto &[key, row] : document["rates"].items())
    if (key.starts_with(prefix))
      rates[key] = row;
  document["rates"] = rates;
  return document.dump();
}

std::optional<MachineRates> keptRates(int threads) {
  Json document = kept();
  auto found = document["rates"].find(keyOf(threads));
  if (found == document["rates"].end() || !found->is_object())
    return std::nullopt;
  MachineRates rates;
  for (auto [name, to] : {std::pair{"flops_per_s", &rates.flopsPerSecond},
                          std::pair{"stream_bytes_per_s", &rates.streamPerSecond}}) {
    if (!found->contains(name) || !(*found)[name].is_number())
      return std::nullopt;
    *to = (*found)[name];
  }
  if (!(rates.flopsPerSecond > 0 && rates.streamPerSecond > 0))
    return std::nullopt;
  return rates;
}

target::Machine machineOf(int threads) {
  Json document = kept();
  auto found = document["rates"].find(keyOf(threads));
  target::Machine machine;
  if (found == document["rates"].end() || !found->is_object() || !found->contains("kernels") ||
      !found->contains("link") || !found->contains("call_s") || !(*found)["call_s"].is_number() ||
      !readKernels((*found)["kernels"], machine) || !readLink((*found)["link"], machine.link))
    return {};
  machine.callSeconds = std::clamp(double((*found)["call_s"]), 0.0, 1.0);
  machine.measuredThreads = threads;
  return machine;
}

bool isMeasured(DeviceKind kind) { return !targetOf(kind).figureNames().empty(); }

/// Keys of a GPU's rates, as in GpuMeasured.
static constexpr std::pair<const char *, double GpuMeasured::*> kOfGpu[] = {
    {"flops_per_s", &GpuMeasured::flopsPerSecond},
    {"bytes_per_s", &GpuMeasured::bytesPerSecond},
    {"launch_s", &GpuMeasured::launchSeconds},
    {"recurrences", &GpuMeasured::recurrences}};

Status calibrateGpu(const DeviceName &device, const GpuProbe &probe) {
  LSTMC_ASSIGN(GpuMachine gpu, gpuMachine(device));
  LSTMC_ASSIGN(GpuMeasured measured, measureGpu(device, gpu.machine, probe));
  Json document = kept(), row = Json::object();
  for (auto [name, field] : kOfGpu)
    row[name] = measured.*field;
  document["gpus"][gpu.name] = row;
  return keep(document);
}

target::Machine gpuMachineOf(const DeviceName &device) {
  const Result<GpuMachine> gpu = gpuMachine(device);
  if (!gpu.ok())
    return {};
  const Json document = kept();
  const Json row = document.value("gpus", Json::object()).value(gpu->name, Json::object());
  GpuMeasured measured;
  for (auto [name, field] : kOfGpu) {
    if (!row.contains(name) || !row[name].is_number() || !(double(row[name]) > 0))
      return gpu->machine;
    measured.*field = row[name];
  }
  return withMeasured(gpu->machine,
                      {measured.flopsPerSecond, measured.bytesPerSecond, measured.launchSeconds},
                      measured.recurrences);
}

/// One of `count` devices of the process.
static target::Machine machineOf(const DeviceName &device, int threads, size_t count) {
  if (factsOf(device.kind).isCard)
    return gpuMachineOf(device);
  int processors = availableProcessors(), devices = std::max(1, int(count));
  if (threads == 0)
    threads = std::max(1, defaultThreads() / devices);
  // If there are more threads than processors, devices take turns.
  double turns = std::max(1.0, double(threads) * devices / processors);
  return targetOf(device.kind)
      .slowed(isMeasured(device.kind) ? machineOf(threads) : target::Machine(), turns);
}

target::Machines machinesOf(const std::vector<DeviceName> &devices, int threads) {
  target::Machines machines;
  for (const DeviceName &device : devices)
    machines.push_back(machineOf(device, threads, devices.size()));
  if (std::all_of(devices.begin(), devices.end(),
                  [&](const DeviceName &device) { return device.kind == devices[0].kind; }))
    machines.resize(1);
  return machines;
}

target::Machines machinesOf(const package::PackageData &data, int threads) {
  std::vector<DeviceName> names;
  for (const package::Device &device : data.devices)
    if (Result<std::vector<DeviceName>> name = parseDevices(device.name); name.ok())
      names.push_back(name->front());
    else
      names.push_back({});
  return machinesOf(names, threads);
}

} // namespace lstmc::planning
