#include "passes/Pipelines.h"

#include "mlir/Pass/PassRegistry.h"

#include "passes/Passes.h"

namespace lstmc::passes {

void buildPipeline(mlir::OpPassManager &pipeline, const CompileOptions &options) {
  auto enabled = [&](llvm::StringRef pass) { return !llvm::is_contained(options.disabled, pass.str()); };
  auto perEntry = [&]() -> mlir::OpPassManager & { return pipeline.nest<mlir::func::FuncOp>(); };

  // One net becomes entries before anything else, since gradients, dropout and states differ between them.
  MakeEntriesOptions entries;
  entries.entries = options.entries;
  entries.carry = options.carry;
  entries.shards = options.shards;
  pipeline.addPass(createMakeEntries(entries));

  // Layers before gradient: it differentiates layers, not stacks.
  perEntry().addPass(createUnpackRnn());

  // On the whole training graph, so that every later pass sees forward and backward as one program.
  GradientOptions gradient;
  gradient.shards = options.shards;
  perEntry().addPass(createGradient(gradient));

  // Right behind gradient: what remains is ordinary ops, and updates can share regions with gradients.
  const OptimizerSpec &spec = options.optimizer;
  ApplyOptimizerOptions optimizer;
  optimizer.optimizer = spec.name;
  optimizer.momentum = spec.momentum;
  optimizer.beta1 = spec.beta1;
  optimizer.beta2 = spec.beta2;
  optimizer.epsilon = spec.epsilon;
  optimizer.wd = spec.wd;
  optimizer.rescaleGrad = spec.rescaleGrad.value_or(0);
  optimizer.clipGradient = spec.clipGradient.value_or(0);
  optimizer.clipNorm = spec.clipGradientNorm.value_or(0);
  pipeline.addPass(createApplyOptimizer(optimizer));

  // Layers have their final form now; lower-to-exec needs the chunk to size workspaces.
  if (enabled("hoist-projection"))
    pipeline.addPass(createHoistProjection());

  // Last on sym: every element-wise op is there, backward's and the optimizer's too.
  if (enabled("fuse"))
    pipeline.addPass(createFuse());

  LowerToExecOptions lower;
  lower.devices = options.devices;
  pipeline.addPass(createLowerToExec(lower));

  // On launches, which are what memory is held for; before offsets, which fix the order.
  if (enabled("schedule"))
    pipeline.addPass(createSchedule());

  // On what will really run.
  PlanMemoryOptions memory;
  memory.inPlace = enabled("in-place");
  memory.sharing = enabled("sharing");
  pipeline.addPass(createPlanMemory(memory));

  // Always: a plan that is wrong must not leave the compiler.
  pipeline.addPass(createValidatePlan());
}

void registerPipelines() {
  mlir::PassPipelineRegistration<>("lstmc", "all passes, from a net to a planned exec.plan",
                                   [](mlir::OpPassManager &pipeline) { buildPipeline(pipeline, {}); });
}

} // namespace lstmc::passes
