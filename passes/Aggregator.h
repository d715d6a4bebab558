// Sums over the batch, added over devices: an array at once, several small ones together, or a
// large one in slices.
#pragma once

#include "llvm/ADT/DenseMap.h"

#include "passes/ParameterPlacement.h"
#include "passes/PlacementListener.h"
#include "passes/Replica.h"
#include "passes/ShardTree.h"

namespace lstmc::passes {

class GradientCompression;

/// The elements of a slice, flat.
mlir::Value sliceOf(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value whole,
                    const Slice &slice);

/// Makes the sums of one entry. New ops go to the end of `block`.
class Aggregator {
public:
  /// Sums of fewer than `bucketBytes` bytes wait for one another until they are as many; 0: none
  /// does.
  /// `compression`: of gradients that several processes have parts of; may be null.
  Aggregator(const ParameterPlacement &placement, int64_t bucketBytes,
             GradientCompression *compression, PlacementListener &listener,
             mlir::OpBuilder &builder, mlir::Block &block)
      : placement(placement), bucketBytes(bucketBytes), compression(compression),
        listener(listener), builder(builder), block(block) {}

  /// Adds, as the tree over all shards does, what the parts have of `op`, which is the last part's:
  /// those who read its result will read the sum of the whole batch.
  void add(mlir::Operation *op, Subtrees sums);
  /// Makes the sums that an op reads, which is about to go to the end of the block.
  void makeFor(mlir::Operation *reader);
  /// Makes all that wait.
  void makeAll();

  /// Where a sum was made, or what was made of sums alone; nothing for other values.
  std::optional<int64_t> deviceOf(mlir::Value value) const;
  /// The op reads sums: its results are there too.
  void follow(mlir::Operation *op, int64_t device);

  /// Of a sum that is in slices (ParameterPlacement), in their order; empty for other values.
  llvm::ArrayRef<mlir::Value> slicesOf(mlir::Value value) const;
  /// Adds slice by slice what `op` adds, of which one may be there as a whole.
  void addSlices(mlir::Operation *op);

private:
  struct Member {
    mlir::Operation *op;
    llvm::StringRef parameter; ///< whose gradient it is; may be empty
    llvm::SmallVector<mlir::OpOperand *>
        readers; ///< of the op's result, from before anything was made of it
    Subtrees sums;
  };
  /// Small sums that come from the same devices, go to the same one, and have one element type.
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
  llvm::DenseMap<mlir::Value, size_t> waiting; ///< the bucket
  llvm::DenseMap<mlir::Value, int64_t> made;   ///< the device
  llvm::DenseMap<mlir::Value, llvm::SmallVector<mlir::Value>> sliced;
};

} // namespace lstmc::passes
