#include "frontend/cli/MachineRates.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include <nlohmann/json.hpp>

#include "backends/cpu/rates/Rates.h"
#include "executor/base/InputFile.h"
#include "executor/base/OutputFile.h"
#include "frontend/cli/Devices.h"

namespace lstmc::cli {

using Json = nlohmann::ordered_json;

/// Larger than any cache that a core has for itself.
static constexpr size_t kStreamBytes = size_t(256) << 20;

/// LSTMC_CACHE_DIR, else XDG_CACHE_HOME/lstmc, else ~/.cache/lstmc.
static std::filesystem::path cacheFile() {
  auto variable = [](const char *name) {
    const char *value = std::getenv(name);
    return std::filesystem::path(value ? value : "");
  };
  std::filesystem::path folder = variable("LSTMC_CACHE_DIR");
  if (folder.empty() && !variable("XDG_CACHE_HOME").empty())
    folder = variable("XDG_CACHE_HOME") / "lstmc";
  if (folder.empty())
    folder = variable("HOME") / ".cache" / "lstmc";
  return folder / "machine.json";
}

/// Measurements of another processor or level say nothing of this one.
static std::string keyOf(int threads) {
  HostFacts host = hostFacts();
  return fmt::format("{}, {}, {} threads", host.processor, host.level, threads);
}

static Json kept() {
  Result<Bytes> bytes = readFile(cacheFile().string());
  Json document = bytes.ok() ? Json::parse(asText(*bytes), nullptr, false) : Json();
  bool good = document.is_object() && document.value("schema", "") == "lstmc.machine/1" && document["rates"].is_object();
  return good ? document : Json{{"schema", "lstmc.machine/1"}, {"rates", Json::object()}};
}

double MachineRates::limitSeconds(double flops, double weightBytes, bool f64) const {
  return std::max(flops / (f64 ? flopsPerSecond / 2 : flopsPerSecond), weightBytes / streamPerSecond);
}

Status calibrate(int threads) {
  ThreadTeam team(threads);
  MachineRates rates{cpu::multiplyAddRate(team), cpu::streamRate(kStreamBytes, threads)};
  Json document = kept();
  document["rates"][keyOf(threads)] = {{"flops_per_s", rates.flopsPerSecond}, {"stream_bytes_per_s", rates.streamPerSecond}};
  std::error_code error;
  std::filesystem::create_directories(cacheFile().parent_path(), error);
  return writeFile(cacheFile().string(), document.dump(1) + "\n", OutputFile::Existing::Replace);
}

std::optional<MachineRates> keptRates(int threads) {
  Json document = kept();
  auto found = document["rates"].find(keyOf(threads));
  if (found == document["rates"].end() || !found->is_object())
    return std::nullopt;
  MachineRates rates;
  for (auto [name, to] : {std::pair{"flops_per_s", &rates.flopsPerSecond}, std::pair{"stream_bytes_per_s", &rates.streamPerSecond}}) {
    if (!found->contains(name) || !(*found)[name].is_number())
      return std::nullopt;
    *to = (*found)[name];
  }
  if (!(rates.flopsPerSecond > 0 && rates.streamPerSecond > 0))
    return std::nullopt;
  return rates;
}

} // namespace lstmc::cli
