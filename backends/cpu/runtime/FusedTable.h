// The operations of the tile evaluator: one function per scalar operation and type.
#pragma once

#include <cstdint>

#include "executor/abi/DType.h"
#include "executor/abi/ScalarOps.h"

namespace lstmc::cpu {

/// One instruction on one tile. `out` may be one of the inputs. An input with step 0 is one value
/// (repeated kSplatLanes times in memory); one with step 1 has `count` values.
struct TileArgs {
  void *out;
  const void *in[3];
  int64_t step[3];
  int64_t count;
  double immediate;
  uint64_t first; ///< for random numbers: index of element 0 in the whole; the others are
                  ///< consecutive
};
using TileFunction = void (*)(const TileArgs &);

/// Vectorised operations of a level on f32 (and on bools, which are f32 of 0 and 1 in a tile); null
/// if scalarTileFunction has the operation for every level.
struct FusedTable {
  TileFunction f32[kScalarOpCount];
};

/// The operation element by element, through ScalarSemantics.h: for f64, integers, conversions, and
/// operations that are computed in f64.
TileFunction scalarTileFunction(ScalarOp op, DType operands, DType result);

} // namespace lstmc::cpu
