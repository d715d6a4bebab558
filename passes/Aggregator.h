// Reduces sums over the batch across devices: one array at a time, several small arrays in one
// bucket, or a large array slice by slice.
#pragma once

#include "llvm/ADT/DenseMap.h"

#include "passes/ParameterPlacement.h"
#include "passes/PlacementListener.h"
#include "passes/Replica.h"
#include "passes/ShardTree.h"

namespace lstmc::passes {

class GradientCompression;

/// Returns the elements of a slice, flattened.
mlir::Value sliceOf(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value whole,
                    const Slice &slice);

/// Builds the cross-device sums of one entry. New ops are appended to `block`.
class Aggregator {
public:
  /// Sums of fewer than `bucketBytes` bytes are collected in buckets of that size; 0 disables
  /// buckets. `compression` applies to gradients that several processes contribute to; may be null.
  Aggregator(const ParameterPlacement &placement, int64_t bucketBytes,
             GradientCompression *compression, PlacementListener &listener,
             mlir::OpBuilder &builder, mlir::Block &block)
      : placement(placement), bucketBytes(bucketBytes), compression(compression),
        listener(listener), builder(builder), block(block) {}

  /// Adds the parts' values of `op` (an op of the last part) in the order of the tree over all
  /// shards. Readers of `op`'s result then read the sum over the whole batch.
  void add(mlir::Operation *op, Subtrees sums);
  /// Builds the pending sums that `reader` uses. Call before appending `reader` to the block.
  void makeFor(mlir::Operation *reader);
  /// Builds all pending sums.
  void makeAll();

  /// The device that holds a sum, or a value computed from sums alone; nullopt for other values.
  std::optional<int64_t> deviceOf(mlir::Value value) const;
  /// Records that the results of `op`, which reads sums, are on `device` too.
  void follow(mlir::Operation *op, int64_t device);

  /// The slices of a sum that is cut (ParameterPlacement), in order; empty for other values.
  llvm::ArrayRef<mlir::Value> slicesOf(mlir::Value value) const;
  /// Performs the addition `op` slice by slice; one of its operands may be a whole value.
  void addSlices(mlir::Operation *op);

private:
  struct Member {
    mlir::Operation *op;
    llvm::StringRef parameter; ///< the parameter whose gradient this is; may be empty
    llvm::SmallVector<mlir::OpOperand *>
        readers; ///< uses of the op's result, collected before the sum is built
    Subtrees sums;
  };
  /// Small sums with the same source devices, the same destination and the same element type.
  struct Bucket {
    llvm::SmallVector<int64_t> ways;
    mlir::Type element;
    llvm::SmallVector<Member> members;
    int64_t bytes = 0;
  };

  llvm::SmallVector<mlir::Value> cutAs(llvm::ArrayRef<mlir::Value> pieces, mlir::Value value);
  void cut(mlir::Operation *op, llvm::ArrayRef<Subtree> sums, llvm::ArrayRef<Slice> into);
  bool wait(Member &member, int64_t device);
  void make(Bucket &bucket);
  void makeAlone(const Member &member, int64_t device);
  void makeTogether(const Bucket &bucket);
  void replace(llvm::ArrayRef<mlir::OpOperand *> readers, mlir::Value whole, int64_t device);

  const ParameterPlacement &placement;
  int64_t bucketBytes;
  GradientCompression *compression;
  PlacementListener &listener;
  mlir::OpBuilder &builder;
  mlir::Block &block;
  llvm::SmallVector<Bucket, 0> buckets;
  llvm::DenseMap<mlir::Value, size_t> waiting; ///< index of the bucket
  llvm::DenseMap<mlir::Value, int64_t> made;   ///< device of the sum
  llvm::DenseMap<mlir::Value, llvm::SmallVector<mlir::Value>> sliced;
};

} // namespace lstmc::passes
