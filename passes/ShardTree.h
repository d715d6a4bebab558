// The binary tree over the shards of a batch, as ops: who adds what (docs/numerics.md rule 5).
#pragma once

#include "mlir/IR/Builders.h"

#include "passes/Replica.h"

namespace lstmc::passes {

/// UnitAttr: an addition of what parts have summed.
inline constexpr llvm::StringLiteral kAggregateAttr = "sym.aggregate";

/// What a part has summed: a complete subtree of the shards.
struct Subtree {
  Share share;
  mlir::Value sum;
};
using Subtrees = llvm::SmallVector<Subtree>;

/// The maximal complete subtrees of the tree over `share.shards` leaves that lie in a share, as
/// shares; those without rows left out.
llvm::SmallVector<Share> subtreesOf(const Share &share);

/// Adds subtrees, in ascending order, as the tree over all shards does: a binary counter
/// (base/Tree.h).
class ShardTree {
public:
  ShardTree(mlir::OpBuilder &builder, mlir::Location loc) : builder(builder), loc(loc) {}

  /// A complete subtree of `size` shards from `first` on.
  void add(int64_t first, int64_t size, mlir::Value sum);
  mlir::Value finish(int64_t shards);

private:
  void skipTo(int64_t shard);
  void push(int64_t size, mlir::Value value);
  mlir::Value join(mlir::Value left, mlir::Value right);

  mlir::OpBuilder &builder;
  mlir::Location loc;
  llvm::SmallVector<std::pair<int64_t, mlir::Value>> stack; ///< widths, descending
  int64_t count = 0;
};

/// The sum of subtrees, which ascend, as the tree over all shards adds them; the others are left
/// out.
mlir::Value addTree(mlir::OpBuilder &builder, mlir::Location loc, llvm::ArrayRef<Subtree> sums);

/// The device that a value was made on.
int64_t deviceOfMaker(mlir::Value value);

} // namespace lstmc::passes
