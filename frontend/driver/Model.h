// A network compiled, or a package or a checkpoint opened, as something that can run.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backends/registry/Devices.h"
#include "executor/base/Checked.h"
#include "executor/data/Vocabulary.h"
#include "executor/package/Package.h"
#include "executor/session/Session.h"
#include "executor/training/Checkpoint.h"
#include "frontend/driver/Request.h"
#include "frontend/lnet/text/Limits.h"
#include "frontend/symbol/Network.h"
#include "passes/Compile.h"

namespace lstmc::driver {

/// Parameters whose gradient norm `step` gives, besides --gradient-norms.
enum class GradientNorms {
  None,
  Deep, ///< of all where a net is so deep that gradients may vanish
  All,
};

/// What a job needs of its network beside what the user asks for.
struct ModelRequest {
  std::vector<std::string> entries;                ///< empty: all that the net allows
  std::vector<symbol::InputShape> shapes;          ///< besides --shape
  std::vector<symbol::OfferedInput> offeredInputs; ///< by their values
  std::optional<int64_t> offeredVocab;             ///< symbols that the data have
  std::vector<package::Setting> fit;               ///< values for fit that beat file and flags
  std::vector<std::string> carry;                  ///< patterns of states to keep, besides fit's
  bool devicesMayBeAbsent = false;                 ///< it is planned, not run
  std::vector<target::Machine>
      machines; ///< of the devices, that layouts are weighed for; none: this one
  std::vector<uint64_t> deviceMemory; ///< bytes that each of them has; none: not asked
  bool nextInputs = true;             ///< as in CompileOptions
  bool forAnyMachine = false;         ///< the package is kept: no choice depends on this machine
  bool ofOneWorker = false;           ///< of dist_async, also where it is played again by itself
  bool countOps = false;              ///< before and after each pass
  std::vector<std::string> measures;  ///< metrics that are judged, besides --metric
  GradientNorms norms = GradientNorms::None;
  bool keepSource = false;       ///< for `inspect --emit module`
  bool keepExec = false;         ///< for `inspect --emit exec`
  std::optional<int64_t> bucket; ///< steps of the network; else, where data(..) or --data
                                 ///< have buckets, those of the longest
  std::string attachment;        ///< package inside a checkpoint; empty: "model.lstmc"
  /// Warnings of the caller about what was compiled; with `werror` they are errors, as others.
  std::function<Diagnostics(const passes::CompileOptions &, const passes::Compiled &)> findings;
};

struct Model {
  std::string path;
  package::Package::Pointer package;
  std::optional<passes::Compiled> compiled; ///< where it came from a source
  package::Bytes bytes;                     ///< of the package, where it was compiled
  std::optional<training::Checkpoint> checkpoint;
  Diagnostics warnings;
  std::string recomputed; ///< what --mem made it compute again, and at what cost; empty: nothing

  /// `fit(..)` of the file with the flags over it: keys and values as text.
  std::vector<package::Setting> fit;

  /// Of a source; none where fit's initialiser stands in for them.
  std::vector<symbol::UnknownInitialiser> unknownInitialisers;
};

/// A fit or data setting by key; the last one given.
std::optional<std::string> findSetting(const std::vector<package::Setting> &settings,
                                       std::string_view key);

// Sources: Source.cpp.

/// --limit for sources: those of the language.
Result<lnet::Limits> sourceLimits(const InputOptions &options);

/// --limit for files other than sources.
Result<lstmc::Limits> fileLimits(const InputOptions &options);

/// A source by the importer of its kind, which its first bytes or its suffix say; "-" is standard
/// input.
Checked<symbol::Network> loadSource(const std::string &path, const CompileRequest &options,
                                    const ModelRequest &request = {});
bool isSource(const std::string &path);
/// Whether it is a source that does not say the shapes of its inputs.
bool leavesShapesOpen(const std::string &path);

// Compiling: Model.cpp.

/// Reads and where needed compiles a file. Diagnostics at the user's lines, E0601 to E0613, E0401.
Checked<Model> loadModel(const std::string &path, const CompileRequest &options,
                         const ModelRequest &request);

/// Compiles a net that has been read, from `path` where it is a file's.
Checked<Model> compileNet(symbol::Network net, const std::string &path,
                          const CompileRequest &options, const ModelRequest &request);

/// The net's module as that pass of the pipeline leaves it; lives as long as `net`. E0001 for a
/// pass that is none.
Checked<mlir::OwningOpRef<mlir::ModuleOp>>
moduleAfter(const std::string &pass, symbol::Network &net, const CompileRequest &options);

// What runs: OpenSession.cpp.

/// Memory, threads and weights: --devices, --threads, and --params, a checkpoint's weights,
/// F.safetensors beside F.lstmc, or initial values from --seed. Memory is for `entries`, as far as
/// the package has them; for all, where that is none of them.
Result<std::unique_ptr<Session>>
openSession(const Model &model, const RunRequest &options,
            const std::vector<std::string> &entries = {}, Engine engine = Engine::Fast,
            std::vector<package::Package::Pointer> neighbours = {});

/// A session of another model in the arenas of `owner`, of which it is a neighbour.
Result<std::unique_ptr<Session>> openBeside(Session &owner, const Model &model,
                                            const RunRequest &options);

/// E0613 for a parameter whose initialiser is not known, at its place.
Status checkInitialisers(const std::vector<symbol::UnknownInitialiser> &unknown);

/// Whether that would find weights, rather than make them up.
bool hasWeights(const Model &model, const RunRequest &options);

/// --seed, else that of fit(..), else 0.
Result<uint64_t> seedInForce(const Model &model, const RunRequest &options);

} // namespace lstmc::driver
