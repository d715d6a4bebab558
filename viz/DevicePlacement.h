// Who carries out which op, and how devices keep their parameters equal, as passes have decided it.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "mlir/IR/BuiltinOps.h"

namespace lstmc::viz {

/// Parameters whose gradients are sent and added together.
struct Bucket {
  std::vector<std::string> parameters;
  uint64_t bytes = 0;
  std::vector<size_t> devices; ///< that have a copy; the first sends its initial values to the rest
  std::set<size_t> adders;     ///< where their gradients are added; empty without training
  size_t slices = 1;           ///< of one large array, each added by a device
};

struct DevicePlacement {
  std::map<int64_t, std::set<size_t>> devices; ///< by the ordinal of an op in the net as written
  std::vector<Bucket> buckets;                 ///< only of parameters that several devices have
};

/// Of a module as sync-parameters leaves it.
DevicePlacement placementOf(mlir::ModuleOp module);

} // namespace lstmc::viz
