// The operations of the tile evaluator: one function per scalar operation and type.
#pragma once

#include <cstdint>

#include "executor/abi/DType.h"
#include "executor/abi/ScalarOps.h"

namespace lstmc::cpu {

/// One instruction on one tile. `out` may be an input itself. An input with step 0 is one value
/// (repeated kSplatLanes times in memory), with step 1 `count` of them.
struct TileArgs {
  void *out;
  const void *in[3];
  int64_t step[3];
  int64_t count;
  double immediate;
  uint64_t first; ///< of random numbers: the index of element 0 in the whole, which those after it
                  ///< follow
};
using TileFunction = void (*)(const TileArgs &);

/// Vectorised operations of a level on f32 (and on bools, which are f32 of 0 and 1 in a tile); null
/// where scalarTileFunction has the operation for every level.
struct FusedTable {
  TileFunction f32[kScalarOpCount];
};

/// The operation element by element, through ScalarSemantics.h: f64, integers, conversions, and
/// what is computed in f64.
TileFunction scalarTileFunction(ScalarOp op, DType operands, DType result);

} // namespace lstmc::cpu
