#include "passes/Pipelines.h"

#include <fmt/format.h>

#include "executor/abi/DType.h"
#include "executor/abi/Devices.h"
#include "passes/PackageBuilder.h"
#include "passes/Passes.h"
#include "passes/PipelineOptions.h"

namespace lstmc::passes {

namespace {

/// A pass, and whether it runs on the module or on each entry.
struct PipelinePass {
  std::unique_ptr<mlir::Pass> pass;
  bool perEntry = false;
};

struct Pipeline {
  std::vector<PipelinePass> passes;
  std::vector<std::string> optimisations; ///< what `disabled` may name
};

Pipeline
pipelineOf(const CompileOptions &options,
           package::PackageData *into = nullptr) { // NOLINT(readability-function-size): a table
  Pipeline pipeline;
  auto enabled = [&](const char *optimisation) {
    pipeline.optimisations.emplace_back(optimisation);
    return !llvm::is_contained(options.disabled, optimisation);
  };
  auto add = [&](std::unique_ptr<mlir::Pass> pass) {
    pipeline.passes.push_back({std::move(pass), false});
  };
  auto addPerEntry = [&](std::unique_ptr<mlir::Pass> pass) {
    pipeline.passes.push_back({std::move(pass), true});
  };

  // First: all later passes look at the ops of one block.
  add(createUnrollForeach());

  // Before all others: the type of every later value.
  if (options.dtype) {
    ConvertDTypeOptions convert;
    convert.dtype = std::string(dtypeLongName(*options.dtype));
    add(createConvertDType(convert));
  }

  // Before all passes that use an op's batch position, gradient or kernel.
  add(createExpandShorthands());

  // On parameters of the net, which entries copy.
  if (!options.fixedParameters.empty()) {
    FixParametersOptions fixed;
    fixed.patterns = options.fixedParameters;
    add(createFixParameters(fixed));
  }
  if (options.reportNormsFrom) {
    ReportNormsOptions norms;
    norms.from = *options.reportNormsFrom;
    add(createReportNorms(norms));
  }

  // On the net as the user sees it: its packed vectors and whole inputs.
  add(createRecordPackedVectors());
  RecordInputRangesOptions ranges;
  ranges.positions = !options.valuesGiven;
  ranges.labels = !options.valuesGiven && options.entries != std::vector<std::string>{"forward"};
  add(createRecordInputRanges(ranges));

  // Before all passes on layers, so that they see an unrolled import as a loop.
  RollRecurrenceOptions rolling;
  rolling.keep = options.recompute;
  if (enabled("roll-recurrence"))
    add(createRollRecurrence(rolling));

  // On the net itself: everything later is created for the rows that a device has.
  ReplicateOptions replicas;
  replicas.shards = options.shards;
  replicas.replicas = int64_t(options.devices.size()) / options.devicesPerReplica();
  replicas.loads = options.workLoads;
  replicas.accumulate = options.accumulate;
  add(createReplicate(replicas));

  // Before all work on entries, because gradients, dropout and states differ between them.
  MakeEntriesOptions entries;
  entries.entries = options.entries;
  entries.carry = options.carry;
  entries.recompute = options.recompute;
  entries.shards = options.shards;
  entries.scores = options.scores;
  entries.placed = options.devices.size() > 1;
  add(createMakeEntries(entries));

  // Layers before gradient: it differentiates layers, not stacks.
  addPerEntry(createUnpackRnn());

  // Before gradient, so that each backward op is placed on the device of its forward op.
  PlaceDevicesOptions place;
  place.stages = options.devicesPerReplica();
  std::vector<std::string> groups;
  for (const auto &[group, device] : options.place)
    groups.push_back(group + "=" +
                     std::to_string(llvm::find(options.devices, device) - options.devices.begin()));
  place.groups = groups;
  place.costs = options.stageCosts;
  add(createPlaceDevices(place));

  // Before gradient, which makes backward in the chunks that it finds in forward.
  SplitLayersOptions split;
  split.chunks = options.chunks;
  split.segments = options.segments;
  addPerEntry(createSplitLayers(split));

  // On the whole training graph, so that every later pass sees forward and backward as one program.
  GradientOptions gradient;
  gradient.shards = options.shards;
  gradient.meanLoss = !options.optimizer.rescaleGrad && options.optimizer.name != "none";
  addPerEntry(createGradient(gradient));

  // After gradient, which determines what backward reads; later passes treat recomputed ops like
  // any others.
  add(createRematerialise());

  // After gradient, whose sums over the batch it adds across devices; it leaves complete gradients
  // for the optimizer, each on the device that added it.
  SyncParametersOptions sync;
  sync.stages = options.devicesPerReplica();
  sync.local = options.kvStore.value_or(KvStore::Local) == KvStore::Local;
  sync.updateOnStore = options.updateOnStore.value_or(true);
  sync.bigArrayBound = options.optimizer.name == "none"
                           ? 0
                           : options.bigArrayBound; // gradients as outputs are whole
  sync.bucketBytes = options.bucketBytes;
  sync.threshold = options.compressionThreshold.value_or(0);
  llvm::SmallVector<int64_t> workers;
  for (size_t device = 0; device < options.devices.size(); ++device)
    workers.push_back(rankOfDevice(device, options.devices.size(), int(options.ranks)));
  sync.workers = workers;
  add(createSyncParameters(sync));

  // After sync-parameters, which determines the number of shards of each sum.
  addPerEntry(createChainSums());

  // After the order of every sum is fixed, because it depends on the number of readers; before
  // transfers, so that a merged value is sent once.
  if (enabled("merge-equal-ops"))
    add(createMergeEqualOps());

  // After gradient and the sums: all that remains is ordinary ops, and updates can be fused with
  // the last ops of gradients.
  const OptimizerSpec &spec = options.optimizer;
  ApplyOptimizerOptions optimizer;
  optimizer.optimizer = spec.name;
  std::vector<std::string> keys;
  for (const auto &[key, value] : spec.keys)
    keys.push_back(fmt::format("{}={}", key, value));
  optimizer.keys = keys;
  optimizer.wd = spec.wd;
  optimizer.rescaleGrad = spec.rescaleGrad.value_or(0);
  optimizer.clipGradient = spec.clipGradient.value_or(0);
  optimizer.clipNorm = spec.clipGradientNorm.value_or(0);
  add(createApplyOptimizer(optimizer));

  // The last pass that sees several devices as one graph; before fuse, so that no region spans two
  // devices.
  add(createInsertTransfers());

  // After insert-transfers, when each layer is on its device, whose target chooses the chunk;
  // lower-to-exec needs the chunk to size workspaces.
  if (enabled("hoist-projection")) {
    HoistProjectionOptions hoist;
    hoist.devices = options.devices;
    add(createHoistProjection(hoist));
  }

  // The last pass on sym: all element-wise ops exist, including those of backward and the
  // optimizer.
  if (enabled("fuse"))
    add(createFuse());

  LowerToExecOptions lower;
  lower.devices = options.devices;
  lower.fast = rulesText(options.fast);
  lower.nextInputs = options.nextInputs;
  add(createLowerToExec(lower));

  // On launches, whose order decides how long memory is held; before plan-memory, since its offsets
  // hold for one order.
  ScheduleOptions schedule;
  schedule.streams = unsigned(options.streams.value_or(0));
  if (enabled("schedule"))
    add(createSchedule(schedule));

  // On the launches in the order in which they will run.
  PlanMemoryOptions memory;
  memory.inPlace = enabled("in-place");
  memory.sharing = enabled("sharing");
  add(createPlanMemory(memory));

  // Always: an invalid plan must not leave the compiler.
  add(createValidatePlan());
  add(into ? createLowerToPackageInto(*into) : createLowerToPackage());
  return pipeline;
}

} // namespace

void buildPipeline(mlir::OpPassManager &pipeline, const CompileOptions &options,
                   package::PackageData *into) {
  for (PipelinePass &entry : pipelineOf(options, into).passes) {
    bool last = entry.pass->getArgument() == llvm::StringRef(options.stopAfter);
    if (entry.perEntry)
      pipeline.addNestedPass<mlir::func::FuncOp>(std::move(entry.pass));
    else
      pipeline.addPass(std::move(entry.pass));
    if (last)
      return;
  }
}

std::vector<std::string> passNames(const CompileOptions &options) {
  std::vector<std::string> names;
  for (const PipelinePass &entry : pipelineOf(options).passes)
    names.push_back(entry.pass->getArgument().str());
  return names;
}

std::vector<std::string> optimisations() { return pipelineOf({}).optimisations; }

void registerPipelines() {
  mlir::PassPipelineRegistration<PipelineOptions>(
      "lstmc", "all passes, from a net to a package",
      [](mlir::OpPassManager &pipeline, const PipelineOptions &options) {
        buildPipeline(pipeline, options.compileOptions());
      });
}

} // namespace lstmc::passes
