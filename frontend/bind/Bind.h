// A graph bound to devices: compiled, with memory and initial values, ready to run. MXNet's bind.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "executor/base/Diagnostic.h"
#include "executor/session/Session.h"
#include "frontend/symbol/Symbol.h"

namespace lstmc::symbol {

struct BindOptions {
  /// Devices as `-d` names them, one item each. If there are more than the groups need, the batch
  /// is divided among them.
  std::vector<std::string> contexts = {"cpu:0"};
  /// MXNet's group2ctx: the device of each ctx_group, one of `contexts`. Ops without a group run
  /// where their neighbours run.
  std::map<std::string, std::string> groupToContext;
  std::vector<int64_t> workLoads; ///< one number per replica: rows of the batch are divided in
                                  ///< these proportions; empty: evenly
  /// Entries to compile, out of forward, evaluate and step; empty: all that the graph allows.
  std::vector<std::string> entries;
  std::vector<std::string> carry; ///< patterns of the begin states that are kept between calls
  std::string optimizer = "sgd";  ///< of `step`: a row of executor/abi/Optimizers.def; or none,
                                  ///< which returns the gradients
  std::map<std::string, double> optimizerKeys; ///< of that row; the others have their defaults
  double wd = 0;
  int threads = 1;   ///< per device; results do not depend on it
  uint64_t seed = 0; ///< of initial values and dropout
};

/// Compiles a finished graph, which is consumed, and opens a session with initialised parameters;
/// inputs, outputs and parameters are accessed by name. Errors: those of the compiler, at the
/// locations given to the graph; E0001 for a context that is not a device name or not among
/// `contexts`; E0501 for a device that this machine lacks.
Checked<std::unique_ptr<Session>> bind(Graph &graph, const BindOptions &options = {});

} // namespace lstmc::symbol
