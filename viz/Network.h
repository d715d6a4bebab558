// A network as a picture of its layers, before or after any pass.
#pragma once

#include <string>
#include <vector>

#include "mlir/IR/BuiltinOps.h"

#include "viz/Cost.h"
#include "viz/DevicePlacement.h"
#include "viz/Diagram.h"

namespace lstmc::viz {

struct NetworkOptions {
  bool shapes = true;  ///< on edges
  bool memory = false; ///< in boxes: bytes of an op's results and of the parameters that it reads
  std::vector<std::string>
      devices; ///< in boxes: the device that runs the op, if known; empty: not shown. Several
               ///< devices are coloured. Launches show their own devices instead
  const DevicePlacement *placement =
      nullptr; ///< of an unlowered net: devices of its ops, and the parameters kept in sync
  const target::Target *target = nullptr; ///< in boxes: estimated time of the op; null: not shown
  target::Machine machine = {};           ///< machine of the estimate
  bool allOps = false;   ///< one box per op; else data movements are drawn as part of an edge, and
                         ///< repetitions are folded (Fold.h)
  bool allSteps = false; ///< draw recurrent layers as boxes of their steps (Unfold.h)
};

/// The net of a sym module; after make-entries its entry `step`, else the first one. Empty for a
/// plan.
Diagram networkDiagram(mlir::ModuleOp module, const NetworkOptions &options = {});

/// The same as DOT; for a plan, the launches of that entry.
std::string networkDot(mlir::ModuleOp module, const NetworkOptions &options = {});

/// Whether the module is lowered to launches, which have no layers and steps.
bool isLowered(mlir::ModuleOp module);

/// A diagram without boxes.
Diagram emptyDiagram(const std::string &name, const NetworkOptions &options);

} // namespace lstmc::viz
