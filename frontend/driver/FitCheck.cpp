#include "frontend/driver/FitCheck.h"

#include <algorithm>
#include <set>

#include <fmt/ranges.h>

#include "executor/abi/Optimizers.h"
#include "executor/base/Suggest.h"
#include "frontend/driver/IdleKeys.h"
#include "frontend/driver/SettingText.h"
#include "frontend/names/Suggestion.h"
#include "frontend/symbol/Initialisers.h"
#include "frontend/symbol/View.h"
#include "passes/NamePattern.h"

namespace lstmc::driver {

namespace {

class FitCheck {
public:
  FitCheck(const symbol::Network &net, const std::vector<package::Setting> &fit,
           const std::vector<BeginState> &states, const package::PackageData &package)
      : net_(net), fit_(fit), states_(states), package_(package) {}

  Diagnostics run() {
    checkCarry();
    checkOptimizer();
    checkSchedule();
    checkMetrics();
    return std::move(found_);
  }

private:
  /// What the file says of `key`, where that is in force.
  const symbol::Setting *inFile(std::string_view key) const {
    for (const symbol::Setting &setting : net_.fit)
      if (setting.key == key && settingTexts({setting}).front().value == findSetting(fit_, key))
        return &setting;
    return nullptr;
  }

  void report(std::string_view key, std::string message, Severity severity = Severity::Error) {
    Diagnostic diagnostic;
    diagnostic.severity = severity;
    const symbol::Setting *setting = inFile(key);
    diagnostic.code = setting ? ErrorCode::E0214 : ErrorCode::E0001;
    if (setting)
      diagnostic.place = setting->origin;
    diagnostic.message = std::move(message);
    found_.push_back(std::move(diagnostic));
  }

  void checkCarry() {
    for (const std::string &pattern : splitCommas(findSetting(fit_, "carry").value_or(""))) {
      std::vector<std::string_view> names;
      const BeginState *backwards = nullptr;
      bool any = false;
      for (const BeginState &state : states_) {
        names.push_back(state.name);
        const std::string layer = state.name.substr(0, state.name.find("_begin_state"));
        if (!passes::matchesPattern(state.name, pattern) && !passes::matchesPattern(layer, pattern))
          continue;
        any = true;
        if (state.bidirectional)
          backwards = &state;
      }
      if (!any)
        report("carry",
               fmt::format("carry: found \"{}\", want a pattern of the names of states{}", pattern,
                           names.empty() ? ", and the net begins with none"
                                         : fmt::format(": {}", fmt::join(names, ", "))));
      else if (backwards)
        report("carry",
               fmt::format("carry: \"{}\" matches {}, of a bidirectional layer, which reads each "
                           "batch backwards too: there the state would go on from steps that come "
                           "later; want a pattern without it",
                           pattern, backwards->name));
    }
  }

  void checkOptimizer() {
    std::string used = findSetting(fit_, "optimizer").value_or("sgd");
    std::string written = "sgd";
    for (const symbol::Setting &setting : net_.fit)
      if (setting.key == "optimizer")
        written = settingText(setting.value);
    const Optimizer &row = *findOptimizer(used);
    const Optimizer *rowWritten = findOptimizer(written);
    for (std::string_view key : optimizerKeys())
      if (!row.key(key) && findSetting(fit_, key).value_or("None") != "None")
        report(key, fmt::format("optimizer \"{}\" has no {}; {}", used, key, keysOf(row, key)),
               rowWritten && rowWritten->key(key) && inFile(key) ? Severity::Warning
                                                                 : Severity::Error);
    for (const IdleKey &idle : idleKeys(row, fit_))
      report(idle.name, fmt::format("{} has no effect: {}", idle.name, idle.why),
             Severity::Warning);
  }

  /// Arguments of a warm-up, where there is none.
  void checkSchedule() {
    const Result<training::Schedule> schedule =
        training::Schedule::parse(findSetting(fit_, "lr_scheduler").value_or("constant"));
    if (!schedule.ok() || schedule->value("warmup_steps") > 1)
      return; // the loop refuses what is not ok
    auto warn = [&](std::string_view argument) {
      report(
          "lr_scheduler",
          fmt::format("lr_scheduler: {} has no effect without warmup_steps of 2 or more", argument),
          Severity::Warning);
    };
    if (schedule->value("warmup_begin_lr") > 0)
      warn("warmup_begin_lr");
    if (!schedule->warmupLinear)
      warn("warmup_mode");
  }

  /// Keys that some optimizers have and others have not.
  static std::set<std::string_view> optimizerKeys() {
    std::set<std::string_view> names;
    for (const Optimizer &row : kOptimizers)
      for (const OptimizerKey &key : row.keys)
        if (!key.name.empty())
          names.insert(key.name);
    return names;
  }

  /// "its keys are epsilon, beta1, beta2": those of the row, the nearest to `wanted` first.
  static std::string keysOf(const Optimizer &row, std::string_view wanted) {
    std::vector<std::string_view> names;
    for (const OptimizerKey &key : row.keys)
      if (!key.name.empty())
        names.push_back(key.name);
    return names.empty()
               ? "it has no keys of its own"
               : fmt::format("its own are {}", fmt::join(nearestFirst(wanted, names), ", "));
  }

  void checkMetrics() {
    std::vector<training::Head> heads = headsOf(package_);
    if (heads.empty())
      return; // no entry measures anything
    for (const std::string &name : splitCommas(findSetting(fit_, "eval_metric").value_or("")))
      if (Status status = checkMetric(name, heads); !status.ok())
        report("eval_metric", status.error().message);
  }

  const symbol::Network &net_;
  const std::vector<package::Setting> &fit_;
  const std::vector<BeginState> &states_;
  const package::PackageData &package_;
  Diagnostics found_;
};

} // namespace

Diagnostics checkFit(const symbol::Network &net, const std::vector<package::Setting> &fit,
                     const std::vector<BeginState> &states, const package::PackageData &package) {
  return FitCheck(net, fit, states, package).run();
}

static bool isBidirectional(const symbol::NodeView &node) {
  return std::ranges::any_of(node.attributes, [](const symbol::NamedAttribute &attribute) {
    const bool *value = std::get_if<bool>(&attribute.value);
    return attribute.name == "bidirectional" && value && *value;
  });
}

std::vector<BeginState> statesOf(const symbol::Graph &graph) {
  const symbol::GraphView view = symbol::view(graph);
  std::set<size_t> bidirectional; // nodes that such layers read
  for (const symbol::NodeView &node : view.nodes)
    for (const auto &[name, edge] : node.inputs)
      if (!edge.input && isBidirectional(node))
        bidirectional.insert(edge.index);
  std::vector<BeginState> states;
  for (size_t i = 0; i < view.nodes.size(); ++i)
    if (view.nodes[i].kind == symbol::NodeView::Kind::BeginState)
      states.push_back({view.nodes[i].name, bidirectional.contains(i)});
  return states;
}

std::optional<Diagnostic> idleInitializer(const symbol::Network &net) {
  auto given = std::ranges::find(net.fit, "initializer", &symbol::Setting::key);
  if (given == net.fit.end())
    return std::nullopt;
  for (const symbol::NodeView &node : symbol::view(*net.graph).nodes)
    if (node.kind == symbol::NodeView::Kind::Variable &&
        (given->initialiser->name == "deferred" ||
         (node.init.name.empty() && !symbol::isDecidedByName(node.name))))
      return std::nullopt;
  Diagnostic warning;
  warning.code = ErrorCode::E0214;
  warning.severity = Severity::Warning;
  warning.place = given->origin;
  warning.message = "initializer has no effect: every parameter has its own init=, or one that its "
                    "name asks for (bias, gamma, beta)";
  return warning;
}

std::vector<training::Head> headsOf(const package::PackageData &package) {
  std::vector<training::Head> heads;
  for (const package::Metric &metric : package.metrics)
    heads.push_back(training::headOf(metric));
  return heads;
}

Status checkMetricName(std::string_view name) {
  std::vector<std::string_view> known = training::metricNames();
  if (training::isMetric(name))
    return {};
  std::string help = suggestion(NameKind::Metric, name, known);
  return fail(ErrorCode::E0001, "there is no metric \"{}\"{}; there are {}", name,
              help.empty() ? "" : fmt::format(" ({})", help), listed(name, known));
}

Status checkMetric(std::string_view name, const std::vector<training::Head> &heads) {
  LSTMC_TRY(checkMetricName(name)); // knows other programs' names too
  return training::checkMeasured(heads, name);
}

Status checkMetric(std::string_view name, const Model &model) {
  const package::PackageData &package = model.package->data();
  const std::vector<training::Head> heads = headsOf(package);
  std::string source = package.net + ".lnet";
  for (const package::Location &location : package.locations)
    if (location.file.ends_with(".lnet"))
      source = location.file;
  const std::string remedy = fmt::format(
      "lstmc compile {1} --fit eval_metric={0} -o MODEL.lstmc, or lstmc eval {1} --params {2} "
      "--metric {0}",
      name, source, model.checkpoint ? model.path : "PATH");
  LSTMC_TRY(checkMetricName(name));
  Status status = training::checkMeasured(heads, name, remedy);
  if (status.ok() || !training::measures(heads, name))
    return status;
  Error error = status.error();
  error.place.file = model.path; // what it was compiled without is the file's
  return error;
}

Diagnostics idleDevices(const package::PackageData &package) {
  std::vector<std::string> idle;
  for (size_t d = 0; d < package.devices.size(); ++d) {
    bool works = false;
    for (const package::Entry &entry : package.entries)
      for (const package::DeviceProgram &program : entry.programs)
        works |=
            program.device == d && entry.name != package::kInitEntry &&
            std::any_of(program.launches.begin(), program.launches.end(),
                        [](const package::Launch &launch) { return !isTransfer(launch.kernel); });
    if (!works)
      idle.push_back(package.devices[d].name);
  }
  if (idle.empty())
    return {};
  Diagnostic warning;
  warning.code = ErrorCode::E0402;
  warning.severity = Severity::Warning;
  warning.message =
      fmt::format("{} {} nothing to do: a device takes whole shards of the batch, and there are {}",
                  fmt::join(idle, ", "), idle.size() == 1 ? "has" : "have", package.shards);
  return {warning};
}

} // namespace lstmc::driver
