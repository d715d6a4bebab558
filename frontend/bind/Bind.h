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
  /// Devices as `-d` names them, one item each. More than the groups need share the batch out.
  std::vector<std::string> contexts = {"cpu:0"};
  /// MXNet's group2ctx: where the ops of a ctx_group run, among `contexts`; the others follow their
  /// neighbours.
  std::map<std::string, std::string> groupToContext;
  std::vector<int64_t>
      workLoads; ///< one per replica, in whose proportion it gets rows; empty: evenly
  std::vector<std::string>
      entries;                    ///< of forward, evaluate, step; empty: all that the graph allows
  std::vector<std::string> carry; ///< patterns of the begin states that are kept between calls
  std::string optimizer = "sgd";  ///< of `step`: a row of executor/abi/Optimizers.def; or none,
                                  ///< which returns the gradients
  std::map<std::string, double> optimizerKeys; ///< of that row; the others have their defaults
  double wd = 0;
  int threads = 1;   ///< per device; results do not depend on it
  uint64_t seed = 0; ///< of initial values and dropout
};

/// Compiles a finished graph and opens a session with it, parameters initialised; inputs, outputs
/// and parameters are there by name. The graph is spent. Errors: what the compiler reports, at the
/// places that the graph was given; E0001 for a context that is no device name or not among
/// `contexts`; E0501 for a device that is not here.
Checked<std::unique_ptr<Session>> bind(Graph &graph, const BindOptions &options = {});

} // namespace lstmc::symbol
