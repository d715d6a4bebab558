// Parts of the batch: the attributes that replicate sets on functions, and row slicing.
#pragma once

#include <optional>

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include "executor/abi/Packing.h"
#include "ir/sym/BatchPosition.h"

namespace lstmc::passes {

/// The range of shards that a part processes.
using Share = ShardRange;
inline int64_t firstRow(const Share &share) {
  return shardBegin(share.batch, share.shards, share.first);
}

/// Stands for the whole batch instead of a part. The unsplit net is kept beside its parts, because
/// the shapes of a one-row batch do not show the batch axis.
inline constexpr int64_t kWhole = -1;

/// A part of the batch and the replica that runs it.
struct BatchPart {
  int64_t replica;
  Share share;
};
/// Distributes whole shards to replicas in order, in proportion to `loads` (one per replica, at
/// least 1), the first ones getting more; each replica's shards are then split into `accumulate`
/// parts. No part is empty: replicas without rows get none.
llvm::SmallVector<BatchPart> shareOut(int64_t batch, int64_t shards, llvm::ArrayRef<int64_t> loads,
                                      int64_t accumulate);

/// The share of the batch in a function's inputs; nullopt if the batch is not split.
std::optional<Share> shareOf(mlir::func::FuncOp function);
void setShare(mlir::func::FuncOp function, int64_t part, int64_t replica, const Share &share);
/// 0 if unset.
int64_t partOf(mlir::func::FuncOp function);
int64_t replicaOf(mlir::func::FuncOp function);
/// The device that runs a function; 0 if unset.
int64_t deviceOf(mlir::func::FuncOp function);

/// The entry that a part belongs to: "step" for "step@1".
llvm::StringRef entryOf(mlir::func::FuncOp function);
/// Function name of a part, or of a device's part of an entry: "step", "step@1"; "step@whole".
std::string partName(llvm::StringRef entry, int64_t part);

/// Restricts an op that sums over the batch (weight_gradient, a metric, ...) to the share's rows.
void sumPart(mlir::Operation *op, const Share &share);
/// Whether sumPart() was applied to the op.
bool sumsPart(mlir::Operation *op);

/// The one axis in which a part's type differs from the whole; no axis if they are equal.
sym::BatchPosition positionOfPart(mlir::Type whole, mlir::Type part, const Share &share);

/// The share's rows of a value that holds the whole batch. `position.batch` is ignored.
mlir::Value sliceRows(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value whole,
                      sym::BatchPosition position, const Share &share);
/// Rows [begin, end) of a value, as a view of shape [outer, rows, inner], whatever axes a reshape
/// merged.
mlir::Value takeRows(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value,
                     sym::BatchPosition position, int64_t begin, int64_t end);
/// Concatenates parts, in the order of their shares, to the whole value.
mlir::Value joinRows(mlir::OpBuilder &builder, mlir::Location loc,
                     llvm::ArrayRef<mlir::Value> parts, mlir::Type whole,
                     sym::BatchPosition position);

} // namespace lstmc::passes
