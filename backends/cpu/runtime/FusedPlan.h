// How one launch of a fused program is carried out: where its values lie and in what order they are
// made.
//
// The iteration space (the common shape of the operands) is walked in tiles of up to kMaxTile
// elements in row-major order. A tile's values lie in scratch on the stack; an operand that is
// dense is read, and mostly written, in place. Values that depend on broadcast scalars alone are
// made once per launch. The plan is made on the stack by every worker for itself: it costs about a
// hundred nanoseconds for ten instructions, and nothing is allocated.
#pragma once

#include <cstddef>
#include <cstdint>

#include "backends/cpu/runtime/FusedTable.h"
#include "executor/abi/FusedProgram.h"
#include "executor/device/Kernel.h"

namespace lstmc::cpu {

inline constexpr int64_t kMaxTile = 1024;
/// What a tile's values take: they stay in L1 together with the operands that pass through it.
inline constexpr int64_t kScratchTarget = 24 << 10;
/// Enough for 16 elements of every value that a program can have.
inline constexpr int64_t kScratchBytes = 80 << 10;
/// A scalar, repeated to the widest vector of the widest type.
inline constexpr int64_t kSplatBytes = 128;
inline constexpr int64_t kSplatLanes = 16;

/// How an operand is reached in a tile.
enum class Reach : uint8_t {
  Uniform, ///< stride 0 in every dimension: one value per launch
  Run,     ///< the tile's elements follow one another in memory
  Row,     ///< stride 0 along the row that holds the tile: one value per tile
  Gather,  ///< copied to scratch, or from it: other strides, and types narrower than a tile's
};

struct FusedPlan {
  struct Operand {
    char *base;
    DType type; ///< as stored
    Reach reach;
    bool read;    ///< by an instruction of the tile, or copied to a result
    bool staged;  ///< read through a copy in scratch
    bool written; ///< from scratch at the end of a tile
    bool target;  ///< written in place, by the instruction that makes `result`
    uint16_t result;
    int64_t strides[kMaxRank]; ///< of the collapsed space, in elements
  };
  /// `data` of element 0 of the tile; `step` 1, or 0 for one value that stands for all.
  struct Value {
    char *data;
    int64_t step;
    DType type; ///< f32, f64, i32, i64 or bool
    bool uniform;
    bool inPlace; ///< made where a result lies, not in scratch
  };
  struct Step {
    TileFunction run;
    uint16_t out;
    uint16_t in[3];
    int inputs;
    double immediate;
    bool drawn; ///< random numbers, by the elements' indices in the whole
  };

  int rank;
  int64_t shape[kMaxRank];
  int64_t total;
  bool rows;      ///< no tile crosses the end of a row of the innermost dimension
  int64_t tile;   ///< elements
  int64_t tiles;  ///< in all
  int64_t perRow; ///< tiles in a row, where `rows`
  /// Of the elements' indices in the whole: a list of abi/ElementWindow.h, extents of 1 left out
  /// and what goes on in one step joined.
  int64_t window[1 + 2 * kMaxRank];
  int windowInts; ///< of them

  int operandCount;
  int valueCount;
  int uniformSteps;
  int tileSteps;
  Operand operands[kMaxFusedOperands];
  Value values[kMaxFusedOperands + kMaxFusedInstructions];
  Step uniform[kMaxFusedInstructions];
  Step steps[kMaxFusedInstructions];

  alignas(64) char splats[(kMaxFusedOperands + kMaxFusedInstructions) * kSplatBytes];
  alignas(64) char scratch[kScratchBytes];

  /// Lays out `args` for `workers` of them. The members above are left unset otherwise: zeroing
  /// them would cost more than a small program.
  void make(const FusedTable &table, const LaunchArgs &args, int workers);

private:
  void collapse(const LaunchArgs &args, bool ordered);
  void place(std::span<const int64_t> list);
  void reachOperands();
  void classify(const FusedProgram &program);
  void writeInPlace();
  int allocate();
  bool dense(const Operand &operand) const;
};

/// Bytes of an element in a tile; a bool is an f32 that is 0 or 1.
constexpr int64_t tileBytes(DType type) { return type == DType::F64 || type == DType::I64 ? 8 : 4; }
/// Repeats the first of kSplatLanes elements.
void splat(char *data, DType type);

} // namespace lstmc::cpu
