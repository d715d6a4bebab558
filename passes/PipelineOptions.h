// The options of the pipeline `lstmc{...}`, as text: those of CompileOptions that affect the
// compiled program.
#pragma once

#include "mlir/Pass/PassOptions.h"

#include "passes/Compile.h"
#include "passes/Real.h"

namespace lstmc::passes {

/// Excludes options that only the driver of the passes uses (limits, machines, reports), and facts
/// that are attributes of the module (PackageFacts.h). Unset options of CompileOptions are empty
/// names and lists, or 0.
struct PipelineOptions : mlir::PassPipelineOptions<PipelineOptions> {
  PipelineOptions();
  explicit PipelineOptions(const CompileOptions &options);
  CompileOptions compileOptions() const;

  ListOption<std::string> entries{*this, "entries", llvm::cl::desc("forward, evaluate, step")};
  ListOption<std::string> devices{*this, "devices", llvm::cl::desc("the first has the inputs")};
  ListOption<int64_t> workLoads{*this, "work-loads", llvm::cl::desc("one per replica")};
  Option<int64_t> shards{*this, "shards", llvm::cl::desc("virtual shards of the batch")};
  Option<int64_t> accumulate{*this, "accumulate", llvm::cl::desc("parts of a replica's rows")};
  Option<bool> local{*this, "local", llvm::cl::desc("the first device adds all gradients")};
  Option<bool> updateOnStore{*this, "update-on-store",
                             llvm::cl::desc("update where gradients are added")};
  Option<int64_t> bigArrayBound{*this, "big-array-bound",
                                llvm::cl::desc("elements from which arrays are sliced")};
  Option<int64_t> bucketBytes{*this, "bucket-bytes",
                              llvm::cl::desc("bytes of small gradients sent at once")};
  Option<int64_t> ranks{*this, "ranks", llvm::cl::desc("processes that share the devices")};
  Option<Real> threshold{*this, "threshold", llvm::cl::desc("of 2 bit compression; 0: none")};
  ListOption<std::string> recompute{*this, "recompute", llvm::cl::desc("groups, layers")};
  Option<int64_t> segments{*this, "segments", llvm::cl::desc("of steps; -1: chosen; 0: none")};
  ListOption<std::string> place{*this, "place", llvm::cl::desc("GROUP=DEVICE")};
  Option<int64_t> stages{*this, "stages", llvm::cl::desc("devices that share layers; 0: all")};
  Option<int64_t> chunks{*this, "chunks", llvm::cl::desc("of steps; 0: chosen")};
  Option<int64_t> streams{*this, "streams", llvm::cl::desc("per device; 0: the target's choice")};
  Option<bool> nextInputs{*this, "next-inputs", llvm::cl::desc("inputs are double-buffered")};
  ListOption<std::string> stageCosts{*this, "stage-costs", llvm::cl::desc("NAME=A/B")};
  Option<std::string> optimizer{*this, "optimizer", llvm::cl::desc("a row of Optimizers.def")};
  ListOption<std::string> keys{*this, "key", llvm::cl::desc("NAME=VALUE of the optimizer")};
  Option<Real> wd{*this, "wd", llvm::cl::desc("weight decay")};
  Option<Real> rescaleGrad{*this, "rescale-grad", llvm::cl::desc("factor on gradients; 0: unset")};
  Option<Real> clipGradient{*this, "clip-gradient", llvm::cl::desc("bound on elements; 0: none")};
  Option<Real> clipNorm{*this, "clip-norm", llvm::cl::desc("bound on the norm; 0: none")};
  ListOption<std::string> fixed{*this, "fixed-parameters", llvm::cl::desc("patterns of names")};
  Option<int64_t> reportNormsFrom{*this, "report-norms-from",
                                  llvm::cl::desc("weights in the net; -1: never")};
  ListOption<std::string> carry{*this, "carry", llvm::cl::desc("patterns of begin states")};
  ListOption<std::string> dtype{*this, "dtype", llvm::cl::desc("float32 or float64; none: as is")};
  ListOption<std::string> fast{*this, "fast", llvm::cl::desc("rules, joined by +")};
  Option<bool> scores{*this, "scores", llvm::cl::desc("evaluate returns scores for auc")};
  ListOption<std::string> disabled{*this, "disable", llvm::cl::desc("optimisations left out")};

private:
  void setValues(const CompileOptions &options);
  /// Separate from setValues(), because MLIR appends parsed items to a list's initial contents.
  void setLists(const CompileOptions &options);
};

/// "lstmc{accumulate=1 ...}": the pipeline for `--pass-pipeline=builtin.module(...)`.
std::string pipelineText(const CompileOptions &options);

} // namespace lstmc::passes
