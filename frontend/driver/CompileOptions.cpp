#include "frontend/driver/CompileOptions.h"

#include <algorithm>

#include <fmt/ranges.h>

#include "backends/registry/Accelerators.h"
#include "executor/abi/Optimizers.h"
#include "executor/abi/ShardLimits.h"
#include "executor/base/LowerCase.h"
#include "executor/base/Suggest.h"
#include "executor/session/UpdateScalars.h"
#include "executor/training/Metrics.h"
#include "frontend/driver/Layout.h"
#include "frontend/driver/RankDevices.h"
#include "frontend/driver/Recompute.h"
#include "frontend/driver/SettingText.h"
#include "frontend/driver/Version.h"
#include "frontend/lnet/Load.h"
#include "frontend/names/Suggestion.h"
#include "passes/Pipelines.h"
#include "passes/planning/rates/MachineRates.h"

namespace lstmc::driver {

/// Weights from which a net is deep: a stack of 12 LSTMs, or 24 layers of one product each.
static constexpr int64_t kDeep = 24;

/// Values of the optimizer that are compiled into `step`.
static Result<passes::OptimizerSpec> optimizerSpec(const std::vector<package::Setting> &fit) {
  passes::OptimizerSpec spec;
  spec.name = findSetting(fit, "optimizer").value_or("sgd");
  const Optimizer *row = findOptimizer(spec.name);
  if (!row)
    return fail(ErrorCode::E0001, "there is no optimizer \"{}\"{}; there are {}", spec.name,
                didYouMean(spec.name, session::optimizerNames()),
                fmt::join(nearestFirst(spec.name, session::optimizerNames()), ", "));
  for (const OptimizerKey &key : row->keys)
    if (std::optional<std::string> text = findSetting(fit, key.name); text && *text != "None") {
      LSTMC_ASSIGN(spec.keys[std::string(key.name)], session::parseOptimizerKey(key, *text));
    }
  auto read = [&](std::string_view name, auto take) -> Status {
    std::optional<std::string> text = findSetting(fit, name);
    if (!text || *text == "None")
      return {};
    LSTMC_ASSIGN(double value, session::parseOptimizerKey(*findOptimizerKey(name), *text));
    take(value);
    return {};
  };
  LSTMC_TRY(read("wd", [&](double v) { spec.wd = v; }));
  LSTMC_TRY(read("rescale_grad", [&](double v) { spec.rescaleGrad = v; }));
  LSTMC_TRY(read("clip_gradient", [&](double v) { spec.clipGradient = v; }));
  LSTMC_TRY(read("clip_gradient_norm", [&](double v) { spec.clipGradientNorm = v; }));
  return spec;
}

Result<std::vector<package::Setting>> fitInForce(const std::vector<symbol::Setting> &file,
                                                 const CompileRequest &options,
                                                 const ModelRequest &request) {
  std::vector<package::Setting> fit = settingTexts(file);
  if (options.optimizer)
    fit.push_back({"optimizer", *options.optimizer});
  if (options.lr)
    fit.push_back({"learning_rate", *options.lr});
  for (const auto &[key, value] : options.fit) {
    std::vector<std::string_view> known = lnet::fitKeys();
    if (std::find(known.begin(), known.end(), key) == known.end())
      return fail(ErrorCode::E0001, "fit has no key \"{}\"; {}", key,
                  suggestionOrList(NameKind::Key, key, known));
    if (key == "initializer")
      return fail(ErrorCode::E0001,
                  "--fit takes no initializer: it is a call, and stands in fit(..) of the file");
    fit.push_back({key, value});
  }
  fit.insert(fit.end(), request.fit.begin(), request.fit.end());
  for (package::Setting &setting : fit)
    if (setting.name == "optimizer")
      setting.value = lowerCase(setting.value);
  return fit;
}

/// What accelerators of this machine have for each device; empty where none of the devices is on
/// one. Parts of one have equal parts of its memory.
static std::vector<uint64_t> memoryOfAccelerators(const std::vector<DeviceName> &devices) {
  std::vector<uint64_t> memory;
  bool any = false;
  for (const DeviceName &device : devices) {
    const auto parts = std::ranges::count_if(devices, [&](const DeviceName &other) {
      return other.kind == device.kind && other.index == device.index;
    });
    const uint64_t bytes = acceleratorBytes(device);
    any |= bytes > 0;
    memory.push_back(bytes > 0 ? bytes / uint64_t(parts) : ~uint64_t(0));
  }
  return any ? memory : std::vector<uint64_t>();
}

/// What layouts are weighed by, where flags leave them open; all else that is compiled depends on
/// no measurement. Nor does anything in a package that is kept, or who adds gradients: those
/// figures are the built-in ones.
static void describeMachine(const MachineOptions &options, const ModelRequest &request,
                            std::vector<DeviceName> devices, passes::CompileOptions &compile) {
  compile.deviceMemory = request.deviceMemory;
  if (compile.deviceMemory.empty() && !request.forAnyMachine)
    compile.deviceMemory = memoryOfAccelerators(devices);
  if (!request.machines.empty()) {
    compile.machines = request.machines;
    return;
  }
  if ((compile.stages == 1 && compile.place.empty()) || request.forAnyMachine)
    return;
  const auto each = int(std::min<int64_t>(*options.threads, 1024));
  compile.machines = planning::machinesOf(devices, each);
  // Of one kind: fewer of them share the same processors out.
  for (; !devices.empty() && compile.machines.size() == 1; devices.pop_back())
    compile.sharing.insert(compile.sharing.begin(), planning::machinesOf(devices, each).front());
}

/// --entry, else what the job needs.
static Result<std::vector<std::string>> entriesAsked(const CompileRequest &options,
                                                     const ModelRequest &request) {
  static constexpr std::string_view kEntries[] = {"forward", "evaluate", "step"};
  std::vector<std::string_view> known(std::begin(kEntries), std::end(kEntries));
  std::vector<std::string> entries = options.entry.given() ? *options.entry : request.entries;
  for (const std::string &entry : entries)
    if (std::find(known.begin(), known.end(), entry) == known.end())
      return fail(ErrorCode::E0001, "--entry knows forward, evaluate and step, got \"{}\"{}", entry,
                  didYouMean(entry, known));
  return entries;
}

/// Whether a metric that is asked for needs the score of every label.
static bool asksForScores(const CompileRequest &options, const ModelRequest &request,
                          const std::vector<package::Setting> &fit) {
  std::vector<std::string> asked = splitCommas(findSetting(fit, "eval_metric").value_or(""));
  asked.insert(asked.end(), options.metric->begin(), options.metric->end());
  asked.insert(asked.end(), request.measures.begin(), request.measures.end());
  return std::ranges::any_of(asked, training::needsScores);
}

static Status checkDisabledPasses(const CompileRequest &options) {
  const std::vector<std::string> known = passes::optimisations();
  for (const std::string &name : options.disablePass)
    if (std::ranges::find(known, name) == known.end())
      return fail(ErrorCode::E0001, "--disable-pass knows {}, got \"{}\"{}", fmt::join(known, ", "),
                  name, didYouMean(name, {known.begin(), known.end()}));
  return {};
}

/// At most one type that products round to, and libraries that carry out products or layers.
static Result<FastRules> fastRulesAsked(const CompileRequest &options) {
  FastRules rules;
  if (!options.fast || options.fast->empty())
    return rules;
  if (options.numerics.given())
    return fail(ErrorCode::E0001,
                "--fast gives up what --numerics {} asks for: want one of the two",
                wordOf(*options.numerics));
  const std::vector<std::string_view> names(std::begin(kFastRuleNames), std::end(kFastRuleNames));
  for (const std::string &name : *options.fast) {
    const auto rule = size_t(std::ranges::find(names, name) - names.begin());
    if (rule == names.size())
      return fail(ErrorCode::E0001, "--fast knows {}, got \"{}\"{}", fmt::join(names, ", "), name,
                  didYouMean(name, names));
    if (rules.has(rule))
      return fail(ErrorCode::E0001, "--fast takes each rule once, got {} twice", name);
    if (rule < kRoundings && rules.usesTensorCores())
      return fail(ErrorCode::E0001, "--fast rounds to one of {}, got {} and {}",
                  fmt::join(names.begin(), names.begin() + kRoundings, ", "),
                  names[size_t(rules.roundedTo) - 1], name);
    rules.add(rule);
  }
  return rules;
}

/// What the package keeps of the source.
static void describeSource(const symbol::Network &net, passes::CompileOptions &compile) {
  compile.net = net.net;
  compile.graphHash = net.graph->hash();
  for (const symbol::SettingInForce &setting : net.settings)
    compile.settings.push_back({setting.name, settingText(setting.value)});
  compile.data = settingTexts(net.data);
}

/// fixedParams and gradientNorms. Norms are reported of nets so deep that gradients may vanish,
/// too, where the job asks for that.
static void readParameters(const ProgramOptions &options, GradientNorms norms,
                           passes::CompileOptions &compile) {
  compile.fixedParameters = *options.fixedParams;
  if (options.gradientNorms || norms == GradientNorms::All)
    compile.reportNormsFrom = 0;
  else if (norms == GradientNorms::Deep)
    compile.reportNormsFrom = kDeep;
}

Result<passes::CompileOptions> compileOptions(const symbol::Network &net,
                                              const CompileRequest &options,
                                              const ModelRequest &request,
                                              const std::vector<package::Setting> &fit) {
  passes::CompileOptions compile;
  describeSource(net, compile);
  LSTMC_ASSIGN(compile.entries, entriesAsked(options, request));
  LSTMC_ASSIGN(std::vector<DeviceName> devices, devicesAsked(options, net));
  if (!request.devicesMayBeAbsent)
    LSTMC_TRY(checkDevicesHere(devices, options));
  LSTMC_TRY(readLayout(options, net, devices, request.ofOneWorker, compile));
  LSTMC_TRY(readRecompute(options, *net.graph, compile));
  describeMachine(options, request, devices, compile);
  compile.shards = *options.shards;
  if (compile.shards < 1 || compile.shards > kMaxShards)
    return fail(ErrorCode::E0001, "--shards takes 1 to {}, got {}", kMaxShards, compile.shards);
  readParameters(options, request.norms, compile);
  if (options.mem)
    compile.memoryLimit = uint64_t(*options.mem);
  LSTMC_ASSIGN(compile.optimizer, optimizerSpec(fit));
  compile.carry = splitCommas(findSetting(fit, "carry").value_or(""));
  compile.carry.insert(compile.carry.end(), request.carry.begin(), request.carry.end());
  if (options.dtype.given())
    compile.dtype = *options.dtype;
  LSTMC_ASSIGN(compile.fast, fastRulesAsked(options));
  compile.scores = asksForScores(options, request, fit);
  LSTMC_TRY(checkDisabledPasses(options));
  compile.disabled = options.disablePass;
  if (options.checkNan) // so that the op is named, and not a program of several
    compile.disabled.push_back("fuse");
  compile.producer = versionLine();
  compile.keepSource = request.keepSource;
  compile.keepExec = request.keepExec;
  compile.nextInputs = request.nextInputs;
  compile.countOps = request.countOps;
  compile.fit = fit;
  return compile;
}

} // namespace lstmc::driver
