// Sharding of every value over the batch (replicated, sharded, partial sum, unsharded), verified op
// by op.
#pragma once

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

#include "passes/BatchPositions.h"
#include "passes/Replica.h"

namespace lstmc::passes {

/// Sharding of a value in a part of the batch. Each kind relates the part's value to the value in
/// the whole batch, and every op of a part has to preserve that relation:
///
///   Alike  replicated: depends on parameters, constants and scalars only; equal in every part.
///   Rows   sharded: the part's rows, at `rows`, of the whole value.
///   Whole  unsharded: computed once, on one device, from the rows of all parts.
///   Sum    partial sum over the batch, or computed from such sums: equals the whole value where
///          the last part reads it, after the parts' sums are added; undefined elsewhere.
///
/// An op whose result has none of these kinds runs on the whole batch, on operands joined from all
/// parts; its result is Whole, or Rows cut out of it. If that is impossible too, the batch cannot
/// be split (E0402).
struct PartValue {
  enum Kind { Alike, Rows, Whole, Sum } kind = Alike;
  sym::BatchPosition rows = {}; ///< batch position in the whole value, for Rows
};

class PartValues {
public:
  struct Part {
    mlir::func::FuncOp function;
    llvm::ArrayRef<mlir::Operation *> ops; ///< the ops of the part, one for each op of the whole
    Share share;
  };
  /// Where an op is executed.
  enum class Role {
    Part,    ///< each part, on its rows or on replicated values
    OwnRows, ///< each part extracts its rows of the whole (`sym.own_rows`)
    Mask,    ///< each part draws the random numbers of its rows
    Sum,     ///< each part sums its shards
    Last,    ///< the last part, on completed sums
    Whole,   ///< one device, on the whole batch
  };

  PartValues(mlir::func::FuncOp whole, llvm::ArrayRef<mlir::Operation *> ops,
             llvm::ArrayRef<Part> parts);

  /// Fails with E0402 at the first op whose sharding cannot be derived.
  mlir::LogicalResult prove();

  Role roleOf(size_t index) const { return roles[index]; }
  const PartValue &of(mlir::Value whole) const { return values.find(whole)->second; }
  /// Whether an op on the whole batch depends on results of the parts.
  bool waits(size_t index) const { return waiting.contains(index); }
  bool anyWaits() const { return !waiting.empty(); }
  /// Whether a value depends on inputs alone, so that the whole value can be recomputed.
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
  llvm::DenseSet<size_t> forParts; ///< sums that parts read: computed on the whole batch
  llvm::DenseSet<mlir::Value> ofInputs, atHand;
};

} // namespace lstmc::passes
