#include "passes/planning/Layouts.h"

#include <algorithm>
#include <tuple>

#include "backends/registry/Targets.h"
#include "executor/package/MessageMemory.h"
#include "passes/CompileChecks.h"
#include "passes/planning/Estimates.h"
#include "passes/planning/LayoutDevices.h"
#include "passes/planning/forecast/Forecast.h"

namespace lstmc::planning {

using passes::Compiled;
using passes::CompileOptions;
using passes::KvStore;
using passes::Layout;

namespace {

/// Maximum number of multi-device layouts that are compiled, most promising first.
constexpr size_t kMostCompiled = 6;
/// Maximum number of further attempts with half or twice the best number of chunks.
constexpr int kMostRefined = 4;

class Search {
public:
  Search(const CompileOptions &options, const CompileWith &compileWith)
      : options_(options), compileWith_(compileWith) {}

  Checked<Choice> run() {
    if (options_.stages > 0 || !options_.place.empty())
      tryChunks();
    else
      tryDevices();
    if (!best_)
      return refused_;
    tryStores();
    std::ranges::sort(layouts_, {}, [](const Layout &layout) {
      return std::tuple(!layout.fits, layout.seconds, layout.devices, layout.stages, layout.chunks,
                        layout.kvStore, !layout.updateOnStore, layout.names, layout.workLoads);
    });
    best_->layouts = std::move(layouts_);
    return std::move(*best_);
  }

private:
  void tryChunks() {
    if (options_.devicesPerReplica() == 1 || options_.chunks > 0)
      return tryOut(options_);
    CompileOptions layout = options_;
    if (options_.place.empty())
      layout.stageCosts = stageCosts();
    for (int64_t chunks : kChunks) {
      layout.chunks = chunks;
      tryOut(layout);
    }
  }

  /// Costs of the layers on the devices of the first replica; empty if the net does not compile for
  /// one device.
  std::vector<std::string> stageCosts() const {
    CompileOptions alone = resolved(on(options_, {0}));
    alone.stages = 1;
    alone.workLoads.clear();
    alone.segments = 0; // which one device may not be able to have
    alone.memoryLimit.reset();
    alone.deviceMemory.clear();
    Checked<Compiled> compiled = compileWith_(alone);
    if (!compiled.ok() || !weighedEntry(compiled->package))
      return {};
    Workers workers = workersOf(options_);
    workers.resize(size_t(options_.stages), workers.front());
    return planning::stageCosts(NetOnOneDevice(compiled->package), workers);
  }

  void tryDevices() {
    CompileOptions alone = on(options_, {0});
    alone.stages = 1;
    alone.workLoads.clear();
    tryOut(alone);
    if (!best_)
      return;
    const package::PackageData one = best_->compiled.package;
    if (!weighedEntry(one))
      return;
    // The same program on each of the others.
    for (size_t device = 1; device < options_.devices.size() && options_.machines.size() > 1;
         ++device) {
      CompileOptions other = on(options_, {device});
      other.stages = 1;
      other.workLoads.clear();
      if (&targetOf(options_.devices[device]) != &targetOf(options_.devices[0])) {
        tryOut(other); // another target may choose otherwise
        continue;
      }
      Compiled compiled = best_->compiled;
      compiled.package = one;
      compiled.package.devices[0].name = other.devices[0];
      consider(resolved(other), std::move(compiled), {});
    }
    std::vector<Candidate> promising = candidates(options_, NetOnOneDevice(one));
    for (size_t i = 0; i < std::min(kMostCompiled, promising.size()); ++i)
      tryOut(promising[i].options);
    refineChunks();
  }

  /// Half and twice as many chunks, as long as that is better.
  void refineChunks() {
    for (int round = 0; round < kMostRefined && options_.chunks == 0; ++round) {
      CompileOptions layout = best_->options;
      if (layout.devicesPerReplica() == 1)
        return;
      int64_t chunks = layout.chunks;
      for (int64_t other : {chunks / 2, chunks * 2}) {
        layout.chunks = other;
        if (other >= 1 && other <= 64)
          tryOut(layout);
      }
      if (best_->options.chunks == chunks)
        return;
    }
  }

  /// Tries parameter stores and update locations for the best layout, if its replicas have
  /// gradients to reduce.
  void tryStores() {
    const package::Entry *entry = weighedEntry(best_->compiled.package);
    if (replicasOf(best_->options) < 2 || !entry || entry->name != "step")
      return;
    if (!options_.kvStore) {
      CompileOptions other = best_->options;
      other.kvStore = other.kvStore == KvStore::Device ? KvStore::Local : KvStore::Device;
      tryOut(other);
    }
    if (!options_.updateOnStore) {
      CompileOptions other = best_->options;
      other.updateOnStore = !*other.updateOnStore;
      tryOut(other);
    }
  }

  static CompileOptions resolved(CompileOptions options) {
    options.kvStore = options.kvStore.value_or(KvStore::Local);
    options.updateOnStore = options.updateOnStore.value_or(true);
    return options;
  }

  void tryOut(const CompileOptions &candidate) {
    CompileOptions options = resolved(candidate);
    for (const CompileOptions &known : tried_)
      if (known.devices == options.devices && known.stages == options.stages &&
          known.chunks == options.chunks && known.workLoads == options.workLoads &&
          known.kvStore == options.kvStore && known.updateOnStore == options.updateOnStore)
        return;
    tried_.push_back(options);
    CompileOptions unlimited = options;
    unlimited.memoryLimit.reset();
    unlimited.deviceMemory.clear();
    Checked<Compiled> compiled = compileWith_(unlimited);
    std::optional<CompileOptions> less = passes::withLessMemory(options);
    while (less && compiled.ok() && passes::needsLessMemory(compiled->package, options)) {
      options.streams = unlimited.streams = less->streams;
      options.nextInputs = unlimited.nextInputs = less->nextInputs;
      compiled = compileWith_(unlimited);
      less = passes::withLessMemory(*less);
    }
    if (compiled.ok())
      consider(options, std::move(*compiled), compiled.diagnostics());
    else if (refused_.empty())
      refused_ = compiled.diagnostics();
  }

  void consider(const CompileOptions &options, Compiled compiled, Diagnostics diagnostics) {
    Layout layout = weigh(compiled.package, options);
    layouts_.push_back(layout);
    if (best_ && std::pair(!layout.fits, layout.seconds) >=
                     std::pair(!bestLayout_.fits, bestLayout_.seconds))
      return;
    bestLayout_ = layout;
    best_ = Choice{options, std::move(compiled), {}, std::move(diagnostics)};
  }

  static Layout weigh(const package::PackageData &data, const CompileOptions &options) {
    Layout layout{int64_t(data.devices.size()), options.devicesPerReplica(),
                  std::max<int64_t>(options.chunks, 1)};
    layout.names = options.devices;
    layout.workLoads = options.workLoads;
    layout.kvStore = *options.kvStore;
    layout.updateOnStore = *options.updateOnStore;
    const target::Machines machines = layoutMachines(options);
    layout.ratesGiven = !machines.front().figures.empty();
    const std::vector<int> processes = passes::processesOf(options);
    for (size_t i = 0; i < data.devices.size(); ++i) {
      layout.peakBytes = std::max(layout.peakBytes, data.devices[i].arenaBytes);
      const uint64_t messages =
          package::hostSees(data.devices[i])
              ? package::messageBytes(data, uint32_t(i), {.processes = processes})
              : 0;
      layout.fits &= data.devices[i].arenaBytes + messages <= passes::mayUse(options, i);
    }
    if (const package::Entry *entry = weighedEntry(data))
      layout.seconds = forecast(data, *entry, machines).seconds;
    return layout;
  }

  const CompileOptions &options_;
  const CompileWith &compileWith_;
  std::vector<CompileOptions> tried_;
  std::vector<Layout> layouts_;
  std::optional<Choice> best_;
  Layout bestLayout_{};
  Diagnostics refused_;
};

} // namespace

bool leaveOpen(const CompileOptions &options) {
  if (options.devices.size() < 2)
    return false;
  bool split = options.devicesPerReplica() > 1;
  return (options.stages == 0 && options.place.empty()) || (split && options.chunks == 0) ||
         (replicasOf(options) > 1 && (!options.kvStore || !options.updateOnStore));
}

Checked<Choice> choose(const CompileOptions &options, const CompileWith &compileWith) {
  return Search(options, compileWith).run();
}

Checked<Compiled> compile(mlir::ModuleOp module, const CompileOptions &options) {
  if (!leaveOpen(options))
    return passes::compile(module, options);
  if (std::optional<Diagnostic> error = passes::checkDevices(options))
    return Diagnostics{*error};
  CompileOptions searched = options;
  searched.stopAfter.clear();
  searched.keepSource = searched.keepExec = false;
  Checked<Choice> choice = choose(searched, [&](const CompileOptions &candidate) {
    mlir::OwningOpRef<mlir::ModuleOp> copy = module.clone();
    return passes::compile(*copy, candidate);
  });
  if (!choice.ok())
    return choice.diagnostics();
  if (!options.stopAfter.empty() || options.keepSource || options.keepExec) {
    CompileOptions chosen = choice->options;
    chosen.stopAfter = options.stopAfter;
    chosen.keepSource = options.keepSource;
    chosen.keepExec = options.keepExec;
    Checked<Compiled> compiled = passes::compile(module, chosen);
    if (compiled.ok())
      compiled->layouts = std::move(choice->layouts);
    return compiled;
  }
  if (options.memoryLimit)
    if (Diagnostics errors = passes::checkLimit(choice->compiled.package, choice->options);
        !errors.empty())
      return errors;
  choice->compiled.layouts = std::move(choice->layouts);
  return {std::move(choice->compiled), std::move(choice->diagnostics)};
}

} // namespace lstmc::planning
