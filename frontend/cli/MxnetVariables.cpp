#include "frontend/cli/MxnetVariables.h"

#include <cstdlib>

namespace lstmc::cli {
namespace {

/// A variable whose value asks for a flag.
struct Honoured {
  std::string_view variable, value;
  Flag flag;
  std::string_view flagValue;
};
constexpr Honoured kHonoured[] = {
    {"MXNET_ENGINE_TYPE", "NaiveEngine", Flag::engine, "naive"},
    {"MXNET_EXEC_VERBOSE_LOGGING", "1", Flag::verboseOps, ""},
};

/// A variable without effect, and what to use instead.
struct Answered {
  std::string_view variable, instead;
};
constexpr Answered kAnswered[] = {
    {"MXNET_ENGINE_TYPE", "lstmc run --engine naive is the slow engine, with the same bits"},
    {"MXNET_EXEC_VERBOSE_LOGGING",
     "lstmc run --verbose-ops logs every op, --trace FILE their times"},
    {"MXNET_EXEC_VERBOSE", "lstmc run --verbose-ops logs every op, --trace FILE their times"},
    {"MXNET_CPU_WORKER_NTHREADS", "--threads N sets the threads of a device"},
    {"MXNET_KVSTORE_REDUCTION_NTHREADS", "--threads N sets the threads of a device"},
    {"MXNET_EXEC_BULK_EXEC_TRAIN", "--disable-pass fuse leaves fusion out"},
    {"MXNET_EXEC_BULK_EXEC_INFERENCE", "--disable-pass fuse leaves fusion out"},
    {"MXNET_EXEC_ENABLE_INPLACE", "--disable-pass in-place leaves it out"},
    {"NNVM_EXEC_MATCH_RANGE", "--disable-pass sharing leaves sharing of memory out"},
    {"MXNET_BACKWARD_DO_MIRROR", "--recompute LAYERS, or --mem BYTES, computes layers again"},
    {"MXNET_GPU_MEM_POOL_RESERVE", "--mem BYTES says what a device may use"},
    {"MXNET_KVSTORE_BIGARRAY_BOUND", "--bigarray-bound N does that"},
    {"MXNET_UPDATE_ON_KVSTORE", "--update-on-kvstore 0|1 does that"},
    {"MXNET_KVSTORE_USETREE", "gradients are always added along one tree"},
    {"MXNET_ENFORCE_DETERMINISM", "every run is deterministic"},
    {"MXNET_SAFE_ACCUMULATION", "the order of every sum is fixed (docs/numerics.md)"},
    {"MXNET_CUDNN_AUTOTUNE_DEFAULT", "no kernel is chosen by timing it"},
    {"MXNET_PROFILER_AUTOSTART", "--trace FILE records passes and launches"},
    {"DMLC_INTERFACE", "lstmc launch --interface NAME does that"},
    {"DMLC_ROLE",
     "lstmc launch -n N -- train ... starts all processes; -s M adds servers for dist_async"},
    {"DMLC_PS_ROOT_URI", "lstmc launch tells its ranks where it is; --interface NAME chooses"},
    {"DMLC_PS_ROOT_PORT", "lstmc launch --port N does that"},
    {"DMLC_NUM_WORKER", "lstmc launch -n N does that"},
    {"DMLC_NUM_SERVER",
     "lstmc launch -s N does that, for --kv-store dist_async; other stores need no servers"},
};

std::string_view valueOf(std::string_view variable) {
  const char *value = std::getenv(std::string(variable).c_str());
  return value ? value : "";
}

bool isHonoured(std::string_view variable, const Options &options) {
  for (const GivenValue &given : options.given)
    if (given.source == variable)
      return true;
  return false;
}

} // namespace

void takeMxnetVariables(Options &options) {
  for (const Honoured &row : kHonoured) {
    const FlagRecord &record = recordOf(row.flag);
    bool asked = valueOf(row.variable) == row.value && record.servedBy(*options.command);
    if (asked && !options.isGiven(row.flag))
      options.given.push_back({&record, std::string(row.flagValue), ValueOrigin::Environment,
                               std::string(row.variable)});
  }
}

void answerMxnetVariables(const Options &options, const Console &console) {
  if (!recordOf(Flag::threads).servedBy(*options.command))
    return;
  for (const Answered &row : kAnswered)
    if (std::string_view value = valueOf(row.variable);
        !value.empty() && !isHonoured(row.variable, options))
      console.say(fmt::format("note: {}={} is MXNet's and has no effect: {}", row.variable, value,
                              row.instead));
}

} // namespace lstmc::cli
