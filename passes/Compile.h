// The compiler as one call: a module of sym in, a package and the story of how it was made out.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "mlir/IR/BuiltinOps.h"

#include "backends/target/Machine.h"
#include "executor/abi/DType.h"
#include "executor/abi/FastRules.h"
#include "executor/base/Diagnostic.h"
#include "executor/package/PackageData.h"

namespace lstmc::passes {

/// What `step` does with gradients. The learning rate and what else changes from update to update
/// are scalar inputs of the entry; these are fixed when it is compiled.
struct OptimizerSpec {
  std::string name = "sgd";           ///< a row of executor/abi/Optimizers.def, or none
  std::map<std::string, double> keys; ///< of the row; the others have their defaults
  double wd = 0;
  std::optional<double> rescaleGrad; ///< unset: 1 / batch, or 1 where the head's gradient is a mean
  std::optional<double> clipGradient;     ///< per element
  std::optional<double> clipGradientNorm; ///< over all gradients
};

/// Who adds the gradients of several devices: one of them for all parameters, or each one for some.
enum class KvStore : uint8_t { Local, Device };

/// For CompileOptions::segments.
inline constexpr int64_t kChosen = -1;

struct CompileOptions {
  /// Empty: the only net of the module.
  std::string net;
  /// Of forward, evaluate, step; empty: all that the net allows.
  std::vector<std::string> entries;

  // How the work is shared out.

  /// The first takes the inputs and gives the outputs.
  std::vector<std::string> devices = {"cpu:0"};
  /// One per replica, at least 1: the batch is shared out in that proportion. Empty: evenly.
  std::vector<int64_t> workLoads;
  int64_t shards = 8;
  /// Parts of its rows that each device takes one after the other, in `step`.
  int64_t accumulate = 1;
  /// None: as is forecast to be faster.
  std::optional<KvStore> kvStore = KvStore::Local;
  /// Update where gradients are added; false: on every device that has the parameter; none: as is
  /// forecast to be faster.
  std::optional<bool> updateOnStore = true;
  /// Elements from which an array is cut into slices, each updated on a device of its own
  /// (KvStore::Device, updateOnStore); 0: none is.
  int64_t bigArrayBound = 1'000'000;
  /// Gradients smaller than that are sent to where they are added so many bytes at once.
  int64_t bucketBytes = 65'536;
  /// Processes that share the devices out (rankOfDevice()), each a worker as MXNet has them.
  int64_t ranks = 1;
  /// Of 2 bit gradient compression between processes; none: gradients go as they are.
  std::optional<double> compressionThreshold;
  /// Groups and names of layers whose values backward computes again.
  std::vector<std::string> recompute;
  /// The steps of `step` in so many segments, of which backward computes one after the other again,
  /// through all layers; kChosen: about the root of the steps; 0: not in segments. E0402 where a
  /// part of the batch has several shards, or nothing can be cut.
  int64_t segments = 0;
  /// ctx_group to device; what has no group follows its neighbours.
  std::vector<std::pair<std::string, std::string>> place;
  /// More than 1: layers are split over so many devices by cost; 0: as many as are forecast to be
  /// fastest.
  int64_t stages = 1;
  /// Of time steps, where layers are split; 0: as many as are forecast to be fastest.
  int64_t chunks = 0;
  /// Of each device, for launches that do not wait for one another; at most 8. None: as many as its
  /// target chooses, and one where the plan would not fit with more.
  std::optional<int64_t> streams;
  /// Inputs have a second place, into which their next values are copied while devices work; none
  /// where the plan would not fit with it.
  bool nextInputs = true;
  /// Where layers are split: "NAME=A/B", what a layer costs on each device; empty: its flops.
  std::vector<std::string> stageCosts;

  // What it is planned for.

  /// Of each of the devices, or one for all.
  target::Machines machines = target::Machines(1);
  /// Where devices share one machine out: [k-1] is each of k that work together.
  target::Machines sharing = {};
  /// Bytes that each device may use; exceeding it is E0401.
  std::optional<uint64_t> memoryLimit;
  /// Bytes that each of them has, for choosing among them.
  std::vector<uint64_t> deviceMemory;

  OptimizerSpec optimizer;
  /// Patterns ("lstm*") of the begin states that are kept between calls.
  std::vector<std::string> carry;
  std::optional<DType> dtype; ///< compute type of the whole net
  /// Patterns of parameters that training leaves as they are.
  std::vector<std::string> fixedParameters;
  /// `step` returns the norm of each parameter's gradient if the net has so many weights; none: it
  /// does not.
  std::optional<int64_t> reportNormsFrom;
  FastRules fast;
  bool scores = false; ///< `evaluate` returns what heads of two classes say of each label, which
                       ///< `auc` is made of
  /// Passes left out: "roll-recurrence", "hoist-projection", "fuse", "schedule", and "in-place" and
  /// "sharing" of plan-memory. Results have equal bits with and without each.
  std::vector<std::string> disabled;
  bool verifyEach = true;  ///< the verifier after every pass, unless the module is very large
  bool keepSource = false; ///< Compiled::sourceText
  bool keepExec = false;   ///< Compiled::execText
  /// A name of passNames() (Pipelines.h): the last pass that runs. The module is then as that pass
  /// leaves it, and there is no package but after lower-to-package. Empty: all of them.
  std::string stopAfter;

  bool countOps = false; ///< before and after each pass

  /// How many of `devices` share the layers of one replica.
  int64_t devicesPerReplica() const;

  /// Goes into the package as it is.
  std::string producer = "lstmc 0.1.0";
  std::string graphHash;
  std::vector<package::Setting> settings, fit, data;
};

struct PassTime {
  std::string pass;
  double seconds = 0;
  int64_t opsBefore = 0, opsAfter = 0; ///< where CompileOptions::countOps
};

/// A recurrent layer that was written out step by step.
struct RolledLayer {
  std::string name, mode; ///< "lstm0", "lstm"
  int64_t cells = 0;      ///< steps that are written out
  std::string reason;     ///< why it stays so; empty: it became one op
};

/// One run of a pass over the module or one of its functions.
struct PassSpan {
  std::string pass, on; ///< "fuse" on "step"; on is empty for the module
  std::chrono::steady_clock::time_point begin, end;
};

/// What an entry computes and moves on all devices, as its ops say (CostRule), after fusion; a
/// tensor that several ops read counts each time.
struct EntryCost {
  std::string entry;
  int64_t flops = 0, movedBytes = 0;
};

/// What a device has of the batch.
struct BatchShare {
  std::string device;
  int64_t rows, batch, count, shards;
};

/// A way to share the devices out, and what is forecast of it.
struct Layout {
  int64_t devices, stages, chunks; ///< chunks 1: steps are not cut
  double seconds = 0;              ///< of `step`, or of `forward` or `evaluate` where there is none
  uint64_t peakBytes = 0;          ///< of the device that needs most
  bool fits = true;                ///< what each device may use
  std::vector<std::string> names = {}; ///< of the devices
  std::vector<int64_t> workLoads = {}; ///< of the replicas; empty: evenly
  KvStore kvStore = KvStore::Local;
  bool updateOnStore = true;
  bool ratesGiven = false; ///< `seconds` are by rates that were given, not by built-in ones
  int64_t replicas() const { return devices / stages; }
};

struct Compiled {
  package::PackageData package;
  std::vector<Layout> layouts;    ///< that were weighed where the options leave some open: the one
                                  ///< taken first, then by time
  std::vector<BatchShare> shares; ///< of several devices; those without rows left out
  std::vector<RolledLayer> rolled;
  std::vector<PassTime> times; ///< in the order of the pipeline
  std::vector<PassSpan> spans; ///< the same work, as it happened
  std::vector<EntryCost> costs;
  std::string sourceText; ///< the module before the first pass, with places, if `keepSource`
  std::string execText;   ///< the module after the last pass, if `keepExec`
  /// What was run, for `lstmc opt --pass-pipeline`: as one pipeline with options, and pass by pass.
  std::string pipeline, passes;
};

/// Lowers `module`, in place, through all of the pipeline (Pipelines.h). Diagnostics are at the
/// user's lines; E0402 where the devices cannot be shared out as asked, E0401 when the plan exceeds
/// the limit. What the options leave open of the layout is not weighed: stages are then all
/// devices, chunks those of split-layers, gradients added by the first device. planning::compile
/// weighs it.
Checked<Compiled> compile(mlir::ModuleOp module, const CompileOptions &options);

} // namespace lstmc::passes
