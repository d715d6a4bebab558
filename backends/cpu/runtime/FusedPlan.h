// How one launch of a fused program is run: where its values are and in what order they are
// computed.
//
// The iteration space (the common shape of the operands) is walked in tiles of up to kMaxTile
// elements in row-major order. A tile's values are in the worker's own memory; dense operands are
// read, and mostly written, in place. Values that depend only on broadcast scalars are computed
// once per launch. Every worker makes the plan for itself, in that memory: it takes about a hundred
// nanoseconds for ten instructions, and nothing is allocated.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "backends/cpu/runtime/FusedTable.h"
#include "executor/abi/FusedProgram.h"
#include "executor/device/Kernel.h"
#include "executor/device/WorkerMemory.h"

namespace lstmc::cpu {

inline constexpr int64_t kMaxTile = 1024;
/// Target for the bytes of a tile's values: together with the tile's operands they fit in L1.
inline constexpr int64_t kScratchTarget = 24 << 10;
/// Enough for 16 elements of every value that a program can have.
inline constexpr int64_t kScratchBytes = 80 << 10;
/// Bytes of a scalar that is repeated to fill the widest vector of the widest type.
inline constexpr int64_t kSplatBytes = 128;
inline constexpr int64_t kSplatLanes = 16;

/// How a tile reads or writes an operand.
enum class Reach : uint8_t {
  Uniform, ///< stride 0 in every dimension: one value per launch
  Run,     ///< the tile's elements are contiguous in memory
  Row,     ///< stride 0 along the row that contains the tile: one value per tile
  Gather,  ///< copied to or from scratch: other strides, and types narrower than a tile's
};

struct FusedPlan {
  struct Operand {
    char *base;
    DType type; ///< as stored
    Reach reach;
    bool read;    ///< by an instruction of the tile, or as the source of a result
    bool staged;  ///< read through a copy in scratch
    bool written; ///< from scratch, at the end of a tile
    bool target;  ///< written in place by the instruction that computes `result`
    uint16_t result;
    int64_t strides[kMaxRank]; ///< of the collapsed space, in elements
  };
  /// `data` of element 0 of the tile; `step` is 1, or 0 for one value for all elements.
  struct Value {
    char *data;
    int64_t step;
    DType type; ///< f32, f64, i32, i64 or bool
    bool uniform;
    bool inPlace; ///< computed directly in a result's memory, not in scratch
  };
  /// An instruction as it runs on a tile.
  struct Operation {
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
  int64_t tiles;  ///< number of tiles
  int64_t perRow; ///< tiles in a row, if `rows`
  /// The elements' indices in the whole: a list of abi/ElementWindow.h without extents of 1, with
  /// dimensions joined where one stride covers both.
  int64_t window[1 + 2 * kMaxRank];
  int windowInts; ///< number of entries in the list

  int operandCount;
  int valueCount;
  int uniformOperations;
  int tileOperations;
  Operand operands[kMaxFusedOperands];
  Value values[kMaxFusedOperands + kMaxFusedInstructions];
  Operation uniform[kMaxFusedInstructions];
  Operation operations[kMaxFusedInstructions];

  alignas(64) char splats[(kMaxFusedOperands + kMaxFusedInstructions) * kSplatBytes];
  alignas(64) char scratch[kScratchBytes];

  /// Makes the plan for `args` and this number of workers. Members are not initialised before,
  /// because zeroing them would take longer than a small program.
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

static_assert(sizeof(FusedPlan) <= kWorkerBytes && std::is_trivially_destructible_v<FusedPlan>);

/// Bytes of an element in a tile; a bool is an f32 that is 0 or 1.
constexpr int64_t tileBytes(DType type) { return type == DType::F64 || type == DType::I64 ? 8 : 4; }
/// Repeats the first element kSplatLanes times.
void splat(char *data, DType type);

} // namespace lstmc::cpu
