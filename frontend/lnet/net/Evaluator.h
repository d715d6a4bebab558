// One run of a file and the net that it draws. Owns all parts and connects them.
#pragma once

#include <tuple>

#include "frontend/lnet/Load.h"
#include "frontend/lnet/evaluation/Interpreter.h"
#include "frontend/lnet/evaluation/PythonFunctions.h"
#include "frontend/lnet/net/Foreach.h"
#include "frontend/lnet/net/Initialisers.h"
#include "frontend/lnet/net/NetTensors.h"
#include "frontend/lnet/net/Schedules.h"
#include "frontend/lnet/net/Settings.h"
#include "frontend/lnet/net/TrainingDefaults.h"
#include "frontend/lnet/net/Variables.h"

namespace lstmc::lnet {

/// The parts of the language that have built-in functions.
struct Functions {
  IterationFunctions iteration;
  ConversionFunctions conversions;
  Settings settings;
  TrainingDefaults training;
  Variables variables;
  Initialisers initialisers;
  Schedules schedules;
  Foreach foreach;

  auto parts() {
    return std::tie(iteration, conversions, settings, training, variables, initialisers, schedules,
                    foreach);
  }
};

class Evaluator {
public:
  /// `rehearses`: see Run. A rehearsal that reaches no limit makes no net, and `inVain` is true
  /// then.
  Evaluator(const LoadOptions &options, Problems &problems, bool rehearses = false);
  Evaluator(const Evaluator &) = delete;
  Evaluator &operator=(const Evaluator &) = delete;

  /// Runs the file; null if it could not be read. `text` instead of the file's own.
  Module *runMain(const std::string &path, std::optional<std::string> text);
  /// Draws the net that options and file choose. Nothing after errors.
  std::optional<symbol::Network> drawNet(Module &module);
  /// Values of dims that follow from `--shape` for the inputs of the chosen net.
  std::map<std::string, int64_t> dimsOfShapes(Module &module);
  void giveDims(std::map<std::string, int64_t> dims) {
    functions_.settings.giveDims(std::move(dims));
  }
  bool inVain() const { return run_.inVain(); }

private:
  FunctionObject *chooseNet(Module &module, bool report);
  symbol::Network describe(Module &module, std::string_view net,
                           std::unique_ptr<symbol::Graph> graph);

  const LoadOptions &options_;
  Run run_;
  Files files_;
  DimNames dims_;
  Nodes nodes_;
  FileNet fileNet_;
  Builtins builtins_;
  Interpreter interpreter_;
  Types types_;
  NetTensors tensors_;
  InitialValues initialValues_;
  Functions functions_;
};

/// Whether the name is a built-in function or one of layers.lnet.
bool isFunction(std::string_view name);

} // namespace lstmc::lnet
