#include "passes/planning/Layouts.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "backends/registry/Targets.h"
#include "passes/CompileChecks.h"
#include "passes/planning/forecast/Forecast.h"

namespace lstmc::planning {

using passes::Compiled;
using passes::CompileOptions;
using passes::KvStore;
using passes::Layout;

namespace {

/// Chunks that are tried; those that are more than steps count as steps.
constexpr int64_t kChunks[] = {1, 2, 4, 8, 16, 32};
/// Of the ways to use several devices, those that are compiled: the most promising by estimate.
constexpr size_t kMostCompiled = 6;
/// And chunks that are tried besides, each half or twice as many as were best.
constexpr int kMostRefined = 4;

const package::Entry *weighedEntry(const package::PackageData &data) {
  for (const char *name : {"step", "forward", "evaluate"})
    for (const package::Entry &entry : data.entries)
      if (entry.name == name)
        return &entry;
  return nullptr;
}

int64_t replicasOf(const CompileOptions &options) {
  return int64_t(options.devices.size()) / std::max<int64_t>(1, options.devicesPerReplica());
}

/// The machines of all devices of a layout at work together.
target::Machines machinesOf(const CompileOptions &options) {
  size_t count = options.devices.size();
  if (options.machines.size() > 1)
    return options.machines;
  if (!options.sharing.empty())
    return {options.sharing[std::min(count, options.sharing.size()) - 1]};
  return options.machines;
}

/// A device of a layout.
struct Worker {
  const target::Target *target;
  target::Machine machine;
};
using Workers = std::vector<Worker>;

/// Those of a layout, at work together.
Workers workersOf(const CompileOptions &options) {
  const target::Machines machines = machinesOf(options);
  Workers workers;
  for (size_t device = 0; device < options.devices.size(); ++device)
    workers.push_back(
        {&targetOf(options.devices[device]), machines[std::min(device, machines.size() - 1)]});
  return workers;
}

/// Seconds of a message between two of them.
target::MessageCost messageCost(const Worker &receiver, size_t sender, double bytes) {
  return receiver.target->messageCost(receiver.machine, uint32_t(sender), bytes);
}

/// The options for some of the devices, in that order.
CompileOptions on(const CompileOptions &options, const std::vector<size_t> &devices) {
  CompileOptions part = options;
  auto pick = [&](auto &list, const auto &from) {
    if (from.size() < 2 && list.size() < options.devices.size())
      return; // one for all
    list.clear();
    for (size_t device : devices)
      list.push_back(from[device]);
  };
  pick(part.devices, options.devices);
  pick(part.machines, options.machines);
  pick(part.deviceMemory, options.deviceMemory);
  for (target::Machine &machine : part.machines)
    if (!machine.links.empty()) {
      std::vector<target::Link> links;
      for (size_t from : devices)
        links.push_back(machine.linkFrom(uint32_t(from)));
      machine.links = std::move(links);
    }
  return part;
}

uint64_t mayUse(const CompileOptions &options, size_t device) {
  uint64_t bytes = options.memoryLimit.value_or(~uint64_t(0));
  return options.deviceMemory.empty() ? bytes : std::min(bytes, options.deviceMemory[device]);
}

/// Ends of as many runs of layers as there are devices, so that the most that one of these takes is
/// least. `seconds`: by device and layer.
double slowestStage(const std::vector<std::vector<double>> &seconds, double &sum) {
  size_t layers = seconds.front().size();
  std::vector<double> best(layers + 1, 0), sums(layers + 1, 0); // of the first so many layers
  for (size_t stage = 0; stage < seconds.size(); ++stage) {
    std::vector<double> next(layers + 1, HUGE_VAL), nextSums(layers + 1, 0);
    for (size_t end = stage + 1; end <= layers; ++end) {
      double own = 0;
      for (size_t begin = end; begin-- > stage;) {
        own += seconds[stage][begin];
        if (stage == 0 && begin > 0)
          continue;
        if (double most = std::max(best[begin], own); most < next[end]) {
          next[end] = most;
          nextSums[end] = sums[begin] + own;
        }
      }
    }
    best = std::move(next);
    sums = std::move(nextSums);
  }
  sum = sums[layers];
  return best[layers];
}

/// What estimates are made from: the net on one device.
class Net {
public:
  explicit Net(const package::PackageData &data) : data_(data), entry_(*weighedEntry(data)) {
    for (const package::Parameter &parameter : data.parameters)
      parameterBytes_ += double(data.buffers[parameter.buffers[0]].bytes);
    for (const package::DeviceProgram &program : entry_.programs)
      for (const package::Launch &launch : program.launches)
        if (const std::string &name = data.locations[launch.location].name;
            !name.empty() && computes(launch)) {
          if (std::find(layers_.begin(), layers_.end(), name) == layers_.end())
            layers_.push_back(name);
          const package::Operand &y =
              launch.operands[size_t(kernelRecord(launch.kernel).operand("y"))];
          sentBytes_ = std::max(sentBytes_, double(data.buffers[y.buffer].bytes));
        }
  }

  double seconds(const Worker &worker) const {
    return forecast(data_, entry_, {worker.machine}, {worker.target}).seconds;
  }
  /// Layers that work with parameters, in order, and how long each takes going forward.
  const std::vector<std::string> &layers() const { return layers_; }
  std::vector<double> layerSeconds(const Worker &worker) const {
    std::vector<double> seconds(layers_.size(), 0);
    for (const package::DeviceProgram &program : entry_.programs)
      for (const package::Launch &launch : program.launches)
        if (auto found =
                std::find(layers_.begin(), layers_.end(), data_.locations[launch.location].name);
            found != layers_.end())
          seconds[size_t(found - layers_.begin())] += worker.target->launchSeconds(
              worker.machine, launch.kernel, target::workOf(data_, launch));
    return seconds;
  }
  bool trains() const { return entry_.name == "step"; }
  double parameterBytes() const { return parameterBytes_; }
  /// About what one layer gives the next.
  double sentBytes() const { return sentBytes_; }
  size_t parameters() const { return data_.parameters.size(); }

private:
  static bool computes(const package::Launch &launch) {
    return launch.kernel == KernelId::RnnForward || launch.kernel == KernelId::Product;
  }

  const package::PackageData &data_;
  const package::Entry &entry_;
  std::vector<std::string> layers_;
  double parameterBytes_ = 0, sentBytes_ = 0;
};

/// A layout that may be worth compiling.
struct Candidate {
  CompileOptions options;
  double seconds; ///< about
};

class Estimates {
public:
  Estimates(const CompileOptions &options, const Net &net) : options_(options), net_(net) {}

  /// Of each number of devices and stages the best number of chunks; the most promising first.
  std::vector<Candidate> candidates() const {
    std::vector<Candidate> found;
    std::vector<size_t> order = fastestFirst();
    for (size_t count = 2; count <= order.size(); ++count)
      for (size_t stages = 1; stages <= std::min(count, net_.layers().size()); ++stages) {
        if (count % stages != 0 || !fitsWorkLoads(count, stages))
          continue;
        std::optional<Candidate> best;
        for (int64_t chunks : kChunks) {
          if (options_.chunks > 0 && chunks != kChunks[0])
            continue;
          Candidate one = candidate({order.begin(), order.begin() + long(count)}, stages,
                                    options_.chunks > 0 ? options_.chunks : chunks);
          if (!best || one.seconds < best->seconds)
            best = std::move(one);
          if (stages == 1)
            break;
        }
        if (best->seconds < HUGE_VAL)
          found.push_back(std::move(*best));
      }
    std::stable_sort(found.begin(), found.end(),
                     [](const Candidate &a, const Candidate &b) { return a.seconds < b.seconds; });
    return found;
  }

private:
  /// As given where work loads are, which belong to devices by their place.
  std::vector<size_t> fastestFirst() const {
    std::vector<size_t> order(options_.devices.size());
    std::iota(order.begin(), order.end(), 0);
    if (options_.machines.size() < 2 || !options_.workLoads.empty())
      return order;
    std::vector<double> seconds;
    for (size_t device = 0; device < options_.devices.size(); ++device)
      seconds.push_back(
          net_.seconds({&targetOf(options_.devices[device]), options_.machines[device]}));
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return seconds[a] < seconds[b]; });
    return order;
  }

  bool fitsWorkLoads(size_t count, size_t stages) const {
    return options_.workLoads.empty() ||
           (count == options_.devices.size() && options_.workLoads.size() == count / stages);
  }

  Candidate candidate(const std::vector<size_t> &devices, size_t stages, int64_t chunks) const {
    Candidate one{on(options_, devices), 0};
    CompileOptions &options = one.options;
    options.stages = int64_t(stages);
    options.chunks = stages > 1 ? chunks : options_.chunks;
    const Workers workers = workersOf(options);
    size_t replicas = devices.size() / stages;
    std::vector<double> seconds;
    for (size_t r = 0; r < replicas; ++r)
      seconds.push_back(replicaSeconds(
          {workers.begin() + long(r * stages), workers.begin() + long((r + 1) * stages)}, chunks));
    std::vector<int64_t> shards = shareOutShards(seconds);
    if (options.workLoads.empty() && std::find(shards.begin(), shards.end(), 0) != shards.end()) {
      one.seconds = HUGE_VAL; // the same without some of the devices
      return one;
    }
    if (options.workLoads.empty() &&
        !std::all_of(shards.begin(), shards.end(), [&](int64_t n) { return n == shards[0]; }) &&
        !isEven(seconds))
      options.workLoads = shards;
    if (stages > 1)
      options.stageCosts = stageCosts({workers.begin(), workers.begin() + long(stages)});
    for (size_t r = 0; r < replicas; ++r)
      one.seconds = std::max(one.seconds, seconds[r] * double(shards[r]) / double(options.shards));
    if (replicas > 1 && net_.trains()) {
      const target::MessageCost gradients =
          messageCost(workers[0], stages, net_.parameterBytes() / double(stages));
      one.seconds += 2 * double(replicas - 1) * (gradients.seconds + gradients.latency);
    }
    return one;
  }

  static bool isEven(const std::vector<double> &seconds) {
    auto [least, most] = std::minmax_element(seconds.begin(), seconds.end());
    return *most <= 1.01 * *least;
  }

  /// On the whole batch, the stages working on chunks one after the other.
  double replicaSeconds(const Workers &stages, int64_t chunks) const {
    if (stages.size() == 1)
      return net_.seconds(stages[0]);
    std::vector<std::vector<double>> seconds;
    for (const Worker &worker : stages) {
      seconds.push_back(net_.layerSeconds(worker));
      double forward = std::accumulate(seconds.back().begin(), seconds.back().end(), 0.0);
      for (double &layer : seconds.back())
        layer *= net_.seconds(worker) / std::max(forward, 1e-12);
    }
    double sum = 0, slowest = slowestStage(seconds, sum);
    int directions = net_.trains() ? 2 : 1;
    const target::MessageCost message = messageCost(stages[1], 0, directions * net_.sentBytes());
    const double sent = message.seconds;
    slowest = std::max(slowest, sent);
    double launches = 1e-5 * double(stages.size());
    return (sum + double(chunks - 1) * slowest + double(stages.size() - 1) * sent) /
               double(chunks) +
           double(stages.size() - 1) * directions * message.latency + launches * double(chunks);
  }

  /// Whole shards, each to who would be done first with it.
  std::vector<int64_t> shareOutShards(const std::vector<double> &seconds) const {
    std::vector<int64_t> shards(seconds.size(), 0);
    for (int64_t i = 0; i < options_.shards; ++i) {
      auto done = [&](size_t r) { return seconds[r] * double(shards[r] + 1); };
      size_t first = 0;
      for (size_t r = 1; r < seconds.size(); ++r)
        if (done(r) < done(first))
          first = r;
      ++shards[first];
    }
    return shards;
  }

public:
  /// For place-devices: "NAME=PICOSECONDS/..", of each device.
  std::vector<std::string> stageCosts(const Workers &stages) const {
    std::vector<std::string> costs;
    for (const std::string &layer : net_.layers())
      costs.push_back(layer + "=");
    for (const Worker &worker : stages) {
      std::vector<double> seconds = net_.layerSeconds(worker);
      for (size_t i = 0; i < costs.size(); ++i)
        costs[i] +=
            (costs[i].ends_with('=') ? "" : "/") + std::to_string(int64_t(seconds[i] * 1e12));
    }
    return costs;
  }

private:
  const CompileOptions &options_;
  const Net &net_;
};

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
    std::stable_sort(layouts_.begin(), layouts_.end(), [](const Layout &a, const Layout &b) {
      return std::pair(!a.fits, a.seconds) < std::pair(!b.fits, b.seconds);
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

  /// Of layers on the devices of the first replica; empty where one device cannot be compiled.
  std::vector<std::string> stageCosts() const {
    CompileOptions alone = resolved(on(options_, {0}));
    alone.stages = 1;
    alone.workLoads.clear();
    alone.memoryLimit.reset();
    Checked<Compiled> compiled = compileWith_(alone);
    if (!compiled.ok() || !weighedEntry(compiled->package))
      return {};
    Workers workers = workersOf(options_);
    workers.resize(size_t(options_.stages), workers.front());
    return Estimates(options_, Net(compiled->package)).stageCosts(workers);
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
    Net net(one);
    std::vector<Candidate> candidates = Estimates(options_, net).candidates();
    for (size_t i = 0; i < std::min(kMostCompiled, candidates.size()); ++i)
      tryOut(candidates[i].options);
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

  /// Who adds gradients, and who updates: of the best layout, where replicas have any to add.
  void tryStores() {
    const package::Entry *entry = weighedEntry(best_->compiled.package);
    if (replicasOf(best_->options) < 2 || !entry || entry->name != "step")
      return;
    if (!options_.kvStore) {
      CompileOptions other = best_->options;
      other.kvStore = KvStore::Device;
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
    Checked<Compiled> compiled = compileWith_(unlimited);
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
    for (size_t i = 0; i < data.devices.size(); ++i) {
      layout.peakBytes = std::max(layout.peakBytes, data.devices[i].arenaBytes);
      layout.fits &= data.devices[i].arenaBytes <= mayUse(options, i);
    }
    if (const package::Entry *entry = weighedEntry(data))
      layout.seconds = forecast(data, *entry, machinesOf(options)).seconds;
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
  searched.keepExec = false;
  Checked<Choice> choice = choose(searched, [&](const CompileOptions &candidate) {
    mlir::OwningOpRef<mlir::ModuleOp> copy = module.clone();
    return passes::compile(*copy, candidate);
  });
  if (!choice.ok())
    return choice.diagnostics();
  if (!options.stopAfter.empty() || options.keepExec) {
    CompileOptions chosen = choice->options;
    chosen.stopAfter = options.stopAfter;
    chosen.keepExec = options.keepExec;
    Checked<Compiled> compiled = passes::compile(module, chosen);
    if (compiled.ok())
      compiled->layouts = std::move(choice->layouts);
    return compiled;
  }
  if (options.memoryLimit)
    if (Diagnostics errors = passes::checkLimit(choice->compiled.package, *options.memoryLimit);
        !errors.empty())
      return errors;
  choice->compiled.layouts = std::move(choice->layouts);
  return {std::move(choice->compiled), std::move(choice->diagnostics)};
}

} // namespace lstmc::planning
