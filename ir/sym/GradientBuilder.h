// Interface of an op's gradient rule: access to the gradients of results, and contributions to
// those of operands.
#pragma once

#include "mlir/IR/Builders.h"

#include "ir/sym/BatchPosition.h"

namespace lstmc::sym {

/// Builds backward ops after everything built so far, at the location of the forward op. Ops are
/// visited in reverse program order, and contributions are summed in the order in which they arrive
/// (docs/numerics.md rules 4 and 8).
class GradientBuilder : public mlir::OpBuilder {
public:
  using OpBuilder::OpBuilder;
  virtual ~GradientBuilder() = default;

  /// The gradient of result `index`; null if it has none.
  virtual mlir::Value resultGradient(unsigned index) = 0;
  /// The same, with zeros instead of null.
  virtual mlir::Value resultGradientOrZero(unsigned index) = 0;
  /// Whether this operand depends on anything that is trained.
  virtual bool wants(mlir::Value operand) = 0;

  /// `gradient` has the operand's type.
  virtual void add(mlir::Value operand, mlir::Value gradient) = 0;

  /// The forward op computed y = x weight^T on rows: weight [N, K], dy [rows..., N], x [rows...,
  /// K]. All such uses of a weight become one sum over the batch's shards.
  virtual void addProductUse(mlir::Value weight, mlir::Value dy, mlir::Value x) = 0;
  /// A layer computed r h at every step: dy [T, B, N] is the gradient of r h, y [T, B, K] the
  /// layer's output, h0 [B, K] its begin state or null for zeros; `reverse` if it ran from step T-1
  /// to 0.
  virtual void addRecurrentUse(mlir::Value weight, mlir::Value dy, mlir::Value y, mlir::Value h0,
                               bool reverse) = 0;
  /// The forward op computed y = weight[indices]: weight [V, D], dy [indices..., D].
  virtual void addIndexUse(mlir::Value weight, mlir::Value dy, mlir::Value indices) = 0;
  /// The forward op computed y = x + bias: bias [N], dy [rows..., N].
  virtual void addBiasUse(mlir::Value bias, mlir::Value dy) = 0;

  /// The number of shards that the batch is cut into, and where the batch is in a forward value.
  virtual int64_t shards() = 0;
  virtual BatchPosition batch(mlir::Value value) = 0;
  /// Extents of a forward value with all rows of the batch, even if this program has only some of
  /// them.
  virtual llvm::SmallVector<int64_t> wholeShape(mlir::Value value) = 0;

  /// Whether the batch is cut into parts: this program computes one of them or belongs to one that
  /// does.
  virtual bool inParts() = 0;

  /// Whether a forward value has the type of `like` when both have all rows. Equal types do not
  /// suffice where this program has a single row: a value that all rows share then has the same
  /// type.
  bool sameWhole(mlir::Value value, mlir::Value like) {
    if (value.getType() != like.getType())
      return false;
    BatchPosition rows = batch(like);
    return !rows || batch(value) || rows.batch > 1 ||
           wholeShape(like)[size_t(rows.axis)] == rows.outer * rows.inner;
  }
};

} // namespace lstmc::sym
