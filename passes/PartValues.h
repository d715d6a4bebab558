// What each value of a part of the batch is of the whole batch's, proved op by op.
#pragma once

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

#include "passes/BatchPositions.h"
#include "passes/Replica.h"

namespace lstmc::passes {

/// The kinds of values that exist in a part. For each, what the part has follows from what the
/// whole batch has, and that is the one thing that every op of a part has to keep true:
///
///   Alike  made of parameters, constants and scalars alone: every part has what the whole has.
///   Rows   the rows of the part, at `rows`, of what the whole has.
///   Whole  what the whole has, made once, on one device, of the rows of all parts.
///   Sum    a sum over the batch, or made of sums: what the whole has where the last part reads it,
///          after the addition of what the parts have summed; elsewhere nothing.
///
/// There is no kind for what is none of these: an op that would give it is done on the whole
/// instead, on operands joined from all parts, and gives Whole, or Rows cut out of that. Where that
/// is not possible either, the batch cannot be shared out (E0402).
struct PartValue {
  enum Kind { Alike, Rows, Whole, Sum } kind = Alike;
  sym::BatchPosition rows = {}; ///< of Rows: in the whole's value
};

class PartValues {
public:
  struct Part {
    mlir::func::FuncOp function;
    llvm::ArrayRef<mlir::Operation *> ops; ///< the same ones as the whole has
    Share share;
  };
  /// Who does an op.
  enum class Role {
    Part,    ///< each part, for its rows or for itself
    OwnRows, ///< each part takes its rows of the whole (`sym.own_rows`)
    Mask,    ///< each part draws the random numbers of its rows
    Sum,     ///< each part sums its shards
    Last,    ///< the last part, of sums
    Whole,   ///< one device, on the whole batch
  };

  PartValues(mlir::func::FuncOp whole, llvm::ArrayRef<mlir::Operation *> ops,
             llvm::ArrayRef<Part> parts);

  /// E0402 at the first op of which nothing is proved.
  mlir::LogicalResult prove();

  Role roleOf(size_t index) const { return roles[index]; }
  const PartValue &of(mlir::Value whole) const { return values.find(whole)->second; }
  /// Whether an op done on the whole has to wait for what parts make.
  bool waits(size_t index) const { return waiting.contains(index); }
  bool anyWaits() const { return !waiting.empty(); }
  /// Whether a value is made of inputs alone, so that the whole's can be made again.
  bool isOfInputs(mlir::Value whole) const { return ofInputs.contains(whole); }

private:
  mlir::LogicalResult compare();
  mlir::LogicalResult lookAtArguments();
  mlir::LogicalResult lookAt(size_t index);
  mlir::LogicalResult doOnWhole(size_t index);
  bool sumsByShards(size_t index) const;
  sym::BatchPosition maskRows(size_t index) const;
  bool findSumsForParts();

  enum class Attributes { All, ButExtents, ButShards, ButWindow };
  bool sameAttributes(size_t index, Attributes which) const;
  bool sameTypes(size_t index) const;
  bool isPartOf(size_t index, unsigned result, sym::BatchPosition position) const;
  sym::BatchPosition rowsByTypes(size_t index, unsigned result) const;
  mlir::LogicalResult set(size_t index, Role role, PartValue::Kind kind,
                          llvm::ArrayRef<sym::BatchPosition> rows = {});
  mlir::LogicalResult refuse(mlir::Operation *op, llvm::StringRef why) const;

  mlir::func::FuncOp whole;
  llvm::ArrayRef<mlir::Operation *> ops;
  llvm::SmallVector<Part> parts;
  BatchPositions positions;
  llvm::DenseMap<mlir::Value, PartValue> values;
  llvm::SmallVector<Role> roles;
  llvm::DenseSet<size_t> waiting;
  llvm::DenseSet<size_t> forParts; ///< sums that parts go on with: done on the whole
  llvm::DenseSet<mlir::Value> ofInputs, atHand;
};

} // namespace lstmc::passes
