// Emits the binary tree that adds the shards of a batch (docs/numerics.md rule 5).
#pragma once

#include "mlir/IR/Builders.h"

#include "passes/Replica.h"

namespace lstmc::passes {

/// UnitAttr: this add combines partial sums of several shards.
inline constexpr llvm::StringLiteral kAggregateAttr = "sym.aggregate";

/// The partial sum of a complete subtree of shards.
struct Subtree {
  Share share;
  mlir::Value sum;
};
using Subtrees = llvm::SmallVector<Subtree>;

/// The maximal complete subtrees, of the tree over `share.shards` leaves, within a share. Subtrees
/// without rows are left out.
llvm::SmallVector<Share> subtreesOf(const Share &share);

/// Adds subtrees, given in ascending order, in the order of the tree over all shards: a binary
/// counter (base/Tree.h).
class ShardTree {
public:
  ShardTree(mlir::OpBuilder &builder, mlir::Location loc) : builder(builder), loc(loc) {}

  /// Adds the subtree of `size` shards that begins with shard `first`.
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

/// Sum of the given subtrees, in ascending order, associated as in the tree over all shards;
/// missing subtrees are skipped.
mlir::Value addTree(mlir::OpBuilder &builder, mlir::Location loc, llvm::ArrayRef<Subtree> sums);

/// The device of the op that defines a value.
int64_t deviceOfMaker(mlir::Value value);

} // namespace lstmc::passes
