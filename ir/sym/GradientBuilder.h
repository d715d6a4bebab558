// What an op's gradient rule is given: where to put what it computes.
#pragma once

#include "mlir/IR/Builders.h"

#include "ir/sym/BatchPosition.h"

namespace lstmc::sym {

/// Builds backward ops after everything built so far, at the location of the forward op. The order
/// in which contributions arrive is the order of the sums (docs/numerics.md rules 4 and 8): ops are
/// visited in reverse program order.
class GradientBuilder : public mlir::OpBuilder {
public:
  using OpBuilder::OpBuilder;
  virtual ~GradientBuilder() = default;

  /// What flows into result `index`; null when nothing does.
  virtual mlir::Value resultGradient(unsigned index) = 0;
  /// The same as zeros where nothing flows.
  virtual mlir::Value resultGradientOrZero(unsigned index) = 0;
  /// Whether anything that trains depends on this operand.
  virtual bool wants(mlir::Value operand) = 0;

  /// `gradient` has the operand's type.
  virtual void add(mlir::Value operand, mlir::Value gradient) = 0;

  /// y = x weight^T was computed on rows: weight [N, K], dy [rows..., N], x [rows..., K]. All such
  /// uses of a weight become one sum over the batch's shards.
  virtual void addProductUse(mlir::Value weight, mlir::Value dy, mlir::Value x) = 0;
  /// A layer computed r h at every step: dy [T, B, N] is the gradient of that, y [T, B, K] the
  /// layer's output, h0 [B, K] its begin state or null for zeros; `reverse` if it ran from T-1 to
  /// 0.
  virtual void addRecurrentUse(mlir::Value weight, mlir::Value dy, mlir::Value y, mlir::Value h0,
                               bool reverse) = 0;
  /// y = weight[indices]: weight [V, D], dy [indices..., D].
  virtual void addIndexUse(mlir::Value weight, mlir::Value dy, mlir::Value indices) = 0;
  /// y = x + bias: bias [N], dy [rows..., N].
  virtual void addBiasUse(mlir::Value bias, mlir::Value dy) = 0;

  /// Shards that the batch is cut into, and where the batch is in a forward value.
  virtual int64_t shards() = 0;
  virtual BatchPosition batch(mlir::Value value) = 0;
  /// Extents of a forward value with all rows of the batch, also where this program has some of
  /// them.
  virtual llvm::SmallVector<int64_t> wholeShape(mlir::Value value) = 0;

  /// Whether this program, or the one beside it, has a part of the batch only.
  virtual bool inParts() = 0;

  /// Whether a forward value is as `like` with all rows: where there is a single row of several,
  /// what they share looks like it.
  bool sameWhole(mlir::Value value, mlir::Value like) {
    if (value.getType() != like.getType())
      return false;
    BatchPosition rows = batch(like);
    return !rows || batch(value) || rows.batch > 1 ||
           wholeShape(like)[size_t(rows.axis)] == rows.outer * rows.inner;
  }
};

} // namespace lstmc::sym
