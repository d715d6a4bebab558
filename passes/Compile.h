// Entry point of the compiler: lowers a sym module to a package and returns statistics of the
// compilation.
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

/// Optimizer settings that are fixed at compile time. The learning rate and other values that
/// change between updates are scalar inputs of the entry `step`.
struct OptimizerSpec {
  std::string name = "sgd"; ///< a row of executor/abi/Optimizers.def, or none
  std::map<std::string, double>
      keys; ///< hyperparameters of the row; missing ones keep their defaults
  double wd = 0;
  std::optional<double> rescaleGrad; ///< unset: 1 / batch, or 1 where the head's gradient is a mean
  std::optional<double> clipGradient;     ///< bound on each element
  std::optional<double> clipGradientNorm; ///< bound on the norm over all gradients
};

/// Where gradients of several devices are reduced: on one device for all parameters, or sharded
/// over the devices.
enum class KvStore : uint8_t { Local, Device };

/// Value of CompileOptions::segments: the compiler chooses the number.
inline constexpr int64_t kChosen = -1;

struct CompileOptions {
  /// Name of the net; may be empty if the module has only one.
  std::string net;
  /// Entries to compile, out of forward, evaluate and step; empty: all that the net allows.
  std::vector<std::string> entries;

  // Distribution over devices.

  /// The first device receives the inputs and returns the outputs.
  std::vector<std::string> devices = {"cpu:0"};
  /// Load of each replica, at least 1: the batch is split in this proportion. Empty: evenly.
  std::vector<int64_t> workLoads;
  int64_t shards = 8;
  /// Gradient accumulation: number of parts that each device's rows are processed in, in `step`.
  int64_t accumulate = 1;
  /// Unset: the layout that is forecast to be faster.
  std::optional<KvStore> kvStore = KvStore::Local;
  /// Whether the update runs where gradients are reduced; false: on every device with a copy of the
  /// parameter. Unset: as is forecast to be faster.
  std::optional<bool> updateOnStore = true;
  /// Minimum number of elements for cutting an array into slices that are updated on different
  /// devices (needs KvStore::Device and updateOnStore); 0: arrays are never cut.
  int64_t bigArrayBound = 1'000'000;
  /// Gradients of fewer bytes are sent in buckets of this size.
  int64_t bucketBytes = 65'536;
  /// Number of processes that the devices are distributed over (rankOfDevice()); each corresponds
  /// to a worker of MXNet.
  int64_t ranks = 1;
  /// Threshold of 2-bit gradient compression between processes; unset: no compression.
  std::optional<double> compressionThreshold;
  /// Groups and layers whose values are recomputed in backward.
  std::vector<std::string> recompute;
  /// Number of segments that the steps of `step` are cut into; backward recomputes one segment
  /// after the other, through all layers. kChosen: about the square root of the number of steps; 0:
  /// no segments. E0402 if a part of the batch has several shards, or if nothing can be cut.
  int64_t segments = 0;
  /// Device of each ctx_group; ops without a group follow their neighbours.
  std::vector<std::pair<std::string, std::string>> place;
  /// Number of devices that the layers are split over, by cost; 0: the number that is forecast to
  /// be fastest.
  int64_t stages = 1;
  /// Number of chunks that time steps are cut into if layers are split; 0: the number that is
  /// forecast to be fastest.
  int64_t chunks = 0;
  /// Streams of each device for independent launches, at most 8. Unset: as many as the target
  /// chooses, or 1 if a plan with more does not fit.
  std::optional<int64_t> streams;
  /// Double-buffers inputs, so that the next values can be copied while devices compute. Ignored if
  /// the plan does not fit with it.
  bool nextInputs = true;
  /// Cost of each layer on each device, "NAME=A/B", for splitting layers; empty: flops.
  std::vector<std::string> stageCosts;

  // Machines and memory to plan for.

  /// One machine per device, or one for all.
  target::Machines machines = target::Machines(1);
  /// For devices that share one machine: sharing[k-1] is the machine that each of k concurrent
  /// devices has.
  target::Machines sharing = {};
  /// Bytes that each device may use; a larger plan is E0401.
  std::optional<uint64_t> memoryLimit;
  /// Bytes of memory per device, for choosing among devices.
  std::vector<uint64_t> deviceMemory;

  OptimizerSpec optimizer;
  /// Patterns ("lstm*") of begin states that persist between calls.
  std::vector<std::string> carry;
  std::optional<DType> dtype; ///< compute type of the whole net
  /// Patterns of parameters that training does not update.
  std::vector<std::string> fixedParameters;
  /// Minimum number of weights from which `step` returns the norm of each parameter's gradient;
  /// unset: it never does.
  std::optional<int64_t> reportNormsFrom;
  FastRules fast;
  /// Every run sets the values of all Variables, so labels and positions may be parameters.
  bool valuesGiven = false;
  bool scores = false; ///< `evaluate` also returns the scores of two-class heads (needed for `auc`)
  /// Optimizations to skip: "roll-recurrence", "hoist-projection", "fuse", "schedule", and
  /// "in-place" and "sharing" of plan-memory. Skipping them does not change the bits of results,
  /// but for gradients of a RolledLayer with `rounding`.
  std::vector<std::string> disabled;
  bool verifyEach = true;  ///< run the verifier after every pass, except on very large modules
  bool keepSource = false; ///< Compiled::sourceText
  bool keepExec = false;   ///< Compiled::execText
  /// Last pass to run, a name of passNames() (Pipelines.h). The module is left as that pass
  /// produced it, and there is a package only after lower-to-package. Empty: run all passes.
  std::string stopAfter;

  bool countOps = false; ///< count the ops before and after each pass

  /// Number of `devices` that share the layers of one replica.
  int64_t devicesPerReplica() const;

  /// Stored in the package unchanged.
  std::string producer = "lstmc 0.1.0";
  std::string graphHash;
  std::vector<package::Setting> settings, fit, data;
};

struct PassTime {
  std::string pass;
  double seconds = 0;
  int64_t opsBefore = 0, opsAfter = 0; ///< set if CompileOptions::countOps
};

/// A recurrent layer that the source has unrolled step by step.
struct RolledLayer {
  std::string name, mode; ///< "lstm0", "lstm"
  int64_t cells = 0;      ///< unrolled steps
  std::string reason;     ///< why the layer was not rolled; empty: it was
  std::string rounding;   ///< which gradients the loop adds in another order; empty: none
};

/// One run of a pass over the module or one of its functions.
struct PassSpan {
  std::string pass, on; ///< "fuse" on "step"; on is empty for the module
  std::chrono::steady_clock::time_point begin, end;
};

/// Flops and bytes moved by an entry on all devices, from the ops' CostRule, after fusion. A tensor
/// counts once for each op that reads it.
struct EntryCost {
  std::string entry;
  int64_t flops = 0, movedBytes = 0;
};

/// The rows of the batch that a device processes.
struct BatchShare {
  std::string device;
  int64_t rows, batch, count, shards;
};

/// A distribution over devices and its forecast.
struct Layout {
  int64_t devices, stages, chunks;     ///< chunks == 1: steps are not cut
  double seconds = 0;                  ///< of `step`; else of `forward` or `evaluate`
  uint64_t peakBytes = 0;              ///< of the device with the highest peak
  bool fits = true;                    ///< whether the plan fits the memory limit of each device
  std::vector<std::string> names = {}; ///< names of the devices
  std::vector<int64_t> workLoads = {}; ///< load of each replica; empty: even
  KvStore kvStore = KvStore::Local;
  bool updateOnStore = true;
  bool ratesGiven =
      false; ///< `seconds` was computed with given rates rather than with built-in ones
  int64_t replicas() const { return devices / stages; }
};

struct Compiled {
  package::PackageData package;
  std::vector<Layout> layouts; ///< layouts that were compared, if the options leave the layout
                               ///< open: the chosen one first, then by time
  std::vector<BatchShare>
      shares; ///< per device, for several devices; devices without rows are left out
  std::vector<RolledLayer> rolled;
  std::vector<PassTime> times; ///< in pipeline order
  std::vector<PassSpan> spans; ///< the same work, in the order of execution
  std::vector<EntryCost> costs;
  std::string sourceText; ///< the module before the first pass, with locations, if `keepSource`
  std::string execText;   ///< the module after the last pass, if `keepExec`
  /// The pipeline that was run, for `lstmc opt --pass-pipeline`: as one pipeline with options, and
  /// pass by pass.
  std::string pipeline, passes;
};

/// Runs the whole pipeline (Pipelines.h) on `module`, in place. Diagnostics refer to the user's
/// lines: E0402 if the requested distribution is impossible, E0401 if the plan exceeds the limit.
/// Layouts that the options leave open are not compared here: the stages are all devices,
/// split-layers chooses the chunks, and the first device reduces gradients. planning::compile
/// compares layouts.
Checked<Compiled> compile(mlir::ModuleOp module, const CompileOptions &options);

} // namespace lstmc::passes
