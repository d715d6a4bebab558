// Placement of ops and synchronisation of parameters over devices, as the passes decided it.
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
  std::vector<size_t>
      devices; ///< devices with a copy; the first sends its initial values to the others
  std::set<size_t> adders; ///< devices that add their gradients; empty without training
  size_t slices = 1;       ///< number of slices of one large array, each reduced on one device
};

struct DevicePlacement {
  std::map<int64_t, std::set<size_t>> devices; ///< by the ordinal of an op in the net as written
  std::vector<Bucket> buckets;                 ///< only of parameters that several devices have
};

/// Reads the placement from a module after sync-parameters.
DevicePlacement placementOf(mlir::ModuleOp module);

} // namespace lstmc::viz
