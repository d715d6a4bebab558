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
  bool memory = false; ///< in boxes: bytes of an op's results, and of the parameters that it reads
  std::vector<std::string>
      devices; ///< in boxes: which of these carries an op out, where a pass has said it or there is
               ///< one; empty: left out. Of several, boxes have colours. Launches know theirs
  const DevicePlacement *placement =
      nullptr; ///< of a net as written: where its ops run, and the parameters that are kept equal
  const target::Target *target = nullptr; ///< in boxes: the time that an op is estimated to take
  target::Machine machine = {};           ///< on this one; null: left out
  bool allOps = false;   ///< a box per op; else moves of elements are drawn into their edge, and
                         ///< what repeats is one box (Fold.h)
  bool allSteps = false; ///< recurrent layers as boxes of their steps (Unfold.h)
};

/// The net of a sym module. Of its entries, where it has them already, `step` if that is one, else
/// the first. Empty for a plan.
Diagram networkDiagram(mlir::ModuleOp module, const NetworkOptions &options = {});

/// The same as DOT; of a plan, the launches of that entry.
std::string networkDot(mlir::ModuleOp module, const NetworkOptions &options = {});

/// Whether the module has been lowered to launches, which have neither layers nor steps.
bool isLowered(mlir::ModuleOp module);

/// A picture without boxes yet.
Diagram emptyDiagram(const std::string &name, const NetworkOptions &options);

} // namespace lstmc::viz
