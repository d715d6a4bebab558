#include "passes/PipelineOptions.h"

#include <fmt/format.h>

namespace lstmc::passes {

namespace {

/// A list of at most one, since an option that is an empty text has no printed form.
std::vector<std::string> unlessEmpty(std::string text) {
  return text.empty() ? std::vector<std::string>() : std::vector{std::move(text)};
}

std::optional<double> unlessZero(double value) {
  return value != 0 ? std::optional(value) : std::nullopt;
}

std::vector<std::string> listOf(llvm::ArrayRef<std::string> values) {
  return {values.begin(), values.end()};
}

/// Splits "NAME=TEXT" at the last '=', as devices and numbers have none.
std::pair<std::string, std::string> assignment(llvm::StringRef text) {
  auto [name, value] = text.rsplit('=');
  return {name.str(), value.str()};
}

} // namespace

PipelineOptions::PipelineOptions() { setValues(CompileOptions()); }

PipelineOptions::PipelineOptions(const CompileOptions &options) {
  setValues(options);
  setLists(options);
}

void PipelineOptions::setValues(const CompileOptions &options) {
  shards = options.shards;
  accumulate = options.accumulate;
  local = options.kvStore.value_or(KvStore::Local) == KvStore::Local;
  updateOnStore = options.updateOnStore.value_or(true);
  bigArrayBound = options.bigArrayBound;
  bucketBytes = options.bucketBytes;
  ranks = options.ranks;
  threshold = options.compressionThreshold.value_or(0);
  segments = options.segments;
  stages = options.stages;
  chunks = options.chunks;
  streams = options.streams.value_or(0);
  nextInputs = options.nextInputs;
  optimizer = options.optimizer.name;
  wd = options.optimizer.wd;
  rescaleGrad = options.optimizer.rescaleGrad.value_or(0);
  clipGradient = options.optimizer.clipGradient.value_or(0);
  clipNorm = options.optimizer.clipGradientNorm.value_or(0);
  reportNormsFrom = options.reportNormsFrom.value_or(-1);
  scores = options.scores;
}

void PipelineOptions::setLists(const CompileOptions &options) {
  std::vector<std::string> places, settings;
  for (const auto &[group, device] : options.place)
    places.push_back(group + "=" + device);
  for (const auto &[key, value] : options.optimizer.keys)
    settings.push_back(fmt::format("{}={}", key, value));
  entries = options.entries;
  devices = options.devices;
  workLoads = options.workLoads;
  recompute = options.recompute;
  place = places;
  stageCosts = options.stageCosts;
  keys = settings;
  fixed = options.fixedParameters;
  carry = options.carry;
  dtype = unlessEmpty(options.dtype ? std::string(dtypeLongName(*options.dtype)) : "");
  fast = unlessEmpty(rulesText(options.fast));
  disabled = options.disabled;
}

CompileOptions PipelineOptions::compileOptions() const {
  CompileOptions options;
  options.entries = listOf(entries);
  if (!devices.empty())
    options.devices = listOf(devices);
  options.workLoads.assign(workLoads.begin(), workLoads.end());
  options.shards = shards;
  options.accumulate = accumulate;
  options.kvStore = local ? KvStore::Local : KvStore::Device;
  options.updateOnStore = updateOnStore;
  options.bigArrayBound = bigArrayBound;
  options.bucketBytes = bucketBytes;
  options.ranks = ranks;
  options.compressionThreshold = unlessZero(threshold);
  options.recompute = listOf(recompute);
  options.segments = segments;
  for (const std::string &each : place)
    options.place.push_back(assignment(each));
  options.stages = stages;
  options.chunks = chunks;
  options.streams = streams ? std::optional<int64_t>(streams) : std::nullopt;
  options.nextInputs = nextInputs;
  options.stageCosts = listOf(stageCosts);
  options.optimizer.name = optimizer;
  for (const std::string &each : keys)
    if (auto [key, value] = assignment(each); std::optional<Real> number = parseReal(value))
      options.optimizer.keys[key] = *number;
  options.optimizer.wd = wd;
  options.optimizer.rescaleGrad = unlessZero(rescaleGrad);
  options.optimizer.clipGradient = unlessZero(clipGradient);
  options.optimizer.clipGradientNorm = unlessZero(clipNorm);
  options.fixedParameters = listOf(fixed);
  if (reportNormsFrom >= 0)
    options.reportNormsFrom = reportNormsFrom;
  options.carry = listOf(carry);
  if (!dtype.empty())
    options.dtype = parseDType(dtype.front());
  if (!fast.empty())
    options.fast = fastRulesOf("+" + fast.front()).value_or(FastRules());
  options.scores = scores;
  options.disabled = listOf(disabled);
  return options;
}

std::string pipelineText(const CompileOptions &options) {
  std::string text = "lstmc";
  llvm::raw_string_ostream stream(text);
  PipelineOptions(options).print(stream);
  return text;
}

} // namespace lstmc::passes
