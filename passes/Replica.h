// Parts of the batch: what replicate leaves on functions, and moves of rows.
#pragma once

#include <optional>

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include "executor/abi/Packing.h"
#include "ir/sym/BatchPosition.h"

namespace lstmc::passes {

/// The shards whose rows a part has.
using Share = ShardRange;
inline int64_t firstRow(const Share &share) {
  return shardBegin(share.batch, share.shards, share.first);
}

/// In place of a part: the whole batch. Beside its parts a net is kept as it is, since on a single
/// row of the batch shapes do not say where it is.
inline constexpr int64_t kWhole = -1;

/// A part of the batch, and the replica that carries it out.
struct BatchPart {
  int64_t replica;
  Share share;
};
/// None empty: shards in order, in proportion to `loads` (one per replica, at least 1) as far as
/// whole shards go, the first ones larger, and each replica's again in `accumulate` parts. Replicas
/// for which no row is left have none.
llvm::SmallVector<BatchPart> shareOut(int64_t batch, int64_t shards, llvm::ArrayRef<int64_t> loads,
                                      int64_t accumulate);

/// The share that a function's inputs hold; nothing where there are no parts.
std::optional<Share> shareOf(mlir::func::FuncOp function);
void setShare(mlir::func::FuncOp function, int64_t part, int64_t replica, const Share &share);
/// 0 where nothing says so.
int64_t partOf(mlir::func::FuncOp function);
int64_t replicaOf(mlir::func::FuncOp function);
/// The device whose program a function is; 0 where nothing says so.
int64_t deviceOf(mlir::func::FuncOp function);

/// The entry that a function is a part of: "step" of "step@1".
llvm::StringRef entryOf(mlir::func::FuncOp function);
/// Name of a part, or of what a device does of an entry: "step", "step@1"; "step@whole".
std::string partName(llvm::StringRef entry, int64_t part);

/// Makes an op that sums over the batch (weight_gradient, a metric ..) sum the share's rows alone.
void sumPart(mlir::Operation *op, const Share &share);
/// Whether sumPart() was said of it.
bool sumsPart(mlir::Operation *op);

/// The one axis on which a part differs from the whole; none if they are equal.
sym::BatchPosition positionOfPart(mlir::Type whole, mlir::Type part, const Share &share);

/// The share's rows of a value that holds the whole batch. `position`: where they are; its `batch`
/// says nothing.
mlir::Value sliceRows(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value whole,
                      sym::BatchPosition position, const Share &share);
/// Rows [begin, end) of a value, in a shape with the axis of the batch as three, [outer, rows,
/// inner]: a view, whatever axes a reshape merged.
mlir::Value takeRows(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value,
                     sym::BatchPosition position, int64_t begin, int64_t end);
/// The whole of parts, in the order of their shares.
mlir::Value joinRows(mlir::OpBuilder &builder, mlir::Location loc,
                     llvm::ArrayRef<mlir::Value> parts, mlir::Type whole,
                     sym::BatchPosition position);

} // namespace lstmc::passes
